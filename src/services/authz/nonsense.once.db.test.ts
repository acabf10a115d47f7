import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { question, tools } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz'] });
});
afterAll(() => server.close());
const asked = question('user:a', 'read', 'document:1');
const policy = { name: 'Any', effect: 'allow', subjects: ['*'], actions: ['*'], resources: ['*'] };

const { subject_id: _, ...ofSubjects } = asked;
const { resource_id: __, ...ofObjects } = asked;

describe('where the tables hold nonsense', () => {
  it.each([
    ['check', asked],
    ['enforce', asked],
    ['batch-check', { checks: [asked] }],
    ['explain', asked],
    ['list-objects', ofObjects],
    ['list-subjects', ofSubjects],
  ])('no decision is made, and that is a 503: %s', async (path, body) => {
    const api = tools(server);
    await api.policy(policy);
    await server.db.sql`update authz.policies set subjects = '[7]' where tenant_id = ${api.tenant}`;
    const refused = await api.request('POST', `/authz/${path}`, { body });
    expect(refused).toMatchObject({
      status: 503,
      body: { error: { code: 503, message: 'store unavailable' } },
    });
    expect(refused.headers.get('retry-after')).toBe('1');
  });
});
