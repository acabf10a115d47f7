import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['keys'] });
  api = tools(server);
});
afterAll(() => server.close());

describe('scopes of a key', () => {
  it('are assigned and removed; the same again changes nothing', async () => {
    const { key } = await api.issue({ scopes: ['b'] });
    const assign = () => api.send('POST', `/keys/${key.id}/scopes`, { body: { scopes: ['a', 'b'] } });
    const remove = () => api.send('DELETE', `/keys/${key.id}/scopes`, { body: { scopes: ['b', 'z'] } });
    const assigned = await assign();
    expect(assigned.scopes).toEqual(['a', 'b']);
    expect(await assign()).toEqual(assigned);
    const removed = await remove();
    expect(removed.scopes).toEqual(['a']);
    expect(await remove()).toEqual(removed);
  });

  it('400 without a body, also for DELETE', async () => {
    const { key } = await api.issue();
    expect(await api.refusal('DELETE', `/keys/${key.id}/scopes`)).toEqual([400, 'body: required']);
    expect(await api.refusal('POST', `/keys/${key.id}/scopes`)).toEqual([400, 'body: required']);
  });

  it('400 beyond a hundred, and for what the policy does not allow', async () => {
    const { id: policy_id } = await api.policy({ allowed_scopes: ['s:*'] });
    const { key } = await api.issue({
      policy_id,
      scopes: Array.from({ length: 100 }, (_, index) => `s:${index}`),
    });
    const assign = (scope: string) =>
      api.refusal('POST', `/keys/${key.id}/scopes`, { body: { scopes: [scope] } });
    expect(await assign('s:100')).toEqual([400, 'scopes: a key holds at most 100']);
    const { key: other } = await api.issue({ policy_id });
    const refusal = await api.refusal('POST', `/keys/${other.id}/scopes`, { body: { scopes: ['t'] } });
    expect(refusal).toEqual([400, 'scopes: the policy does not allow t']);
  });
});
