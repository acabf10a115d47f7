import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools, type Tools, tuple } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['authz'] });
});
afterAll(() => server.close());

const document = {
  name: 'document',
  relations: [
    { name: 'owner', subjects: ['user'] },
    { name: 'viewer', subjects: ['user', 'group#member'], expression: 'this + owner' },
  ],
  permissions: [{ name: 'read', expression: 'viewer' }],
};

it('is stored once under its name, which is fixed', async () => {
  const api = tools(server);
  const type = await api.resourceType(document);
  expect(type).toMatchObject({ ...document, description: '', revision: 1 });
  expect(await api.send('GET', `/resource-types/${type.id}`)).toEqual(type);
  expect(await api.refusal('POST', '/resource-types', { body: document })).toEqual([
    409,
    'resource type already exists',
  ]);
  expect(await api.refusal('PUT', `/resource-types/${type.id}`, { body: { name: 'page' } })).toEqual([
    400,
    'name: cannot be changed',
  ]);
  expect(
    (await api.request('PUT', `/resource-types/${type.id}`, { body: type })).headers.get('x-revision'),
  ).toBe('1');
});

it.each([
  [{ permissions: [{ name: 'read', expression: 'reader' }] }, /^permissions\[0\]\.expression: /],
  [{ permissions: [{ name: 'owner', expression: 'viewer' }] }, /^permissions\[0\]\.name: /],
  [
    { permissions: [{ name: 'read', expression: 'viewer + owner & viewer' }] },
    /^permissions\[0\]\.expression: /,
  ],
  [{ permissions: [{ name: 'read', expression: 'viewer - read' }] }, /exclusion in a cycle: document#read/],
])('refuses %j and names the place', async (change, message) => {
  const [status, error] = await tools(server).refusal('POST', '/resource-types', {
    body: { ...document, ...change },
  });
  expect(status).toBe(400);
  expect(error).toMatch(message);
});

describe('with tuples', () => {
  async function withTuples(): Promise<{ api: Tools; id: string }> {
    const api = tools(server);
    const { id } = await api.resourceType(document);
    await api.relation('document:1#viewer@group:eng#member');
    await api.relation('group:eng#member@user:a');
    return { api, id };
  }

  it('keeps the relations that have some, and itself', async () => {
    const { api, id } = await withTuples();
    expect(
      await api.refusal('PUT', `/resource-types/${id}`, {
        body: {
          relations: [{ name: 'owner', subjects: ['user'] }],
          permissions: [{ name: 'read', expression: 'owner' }],
        },
      }),
    ).toEqual([409, 'relation "viewer" still has tuples']);
    expect(await api.refusal('DELETE', `/resource-types/${id}`)).toEqual([
      409,
      'relation "viewer" still has tuples',
    ]);

    await api.send('POST', '/relations/delete', { body: tuple('document:1#viewer@group:eng#member') });
    expect((await api.request('DELETE', `/resource-types/${id}`)).status).toBe(204);
  });

  it('ignores those that its subjects name no more, until they name them again', async () => {
    const { api, id } = await withTuples();
    const allowed = async () => (await api.check('user:a', 'read', 'document:1')).allowed;
    const viewers = (subjects: string[]) =>
      api.request('PUT', `/resource-types/${id}`, {
        body: {
          relations: [document.relations[0], { name: 'viewer', subjects, expression: 'this + owner' }],
        },
      });
    expect(await allowed()).toBe(true);
    await viewers(['user']);
    expect(await allowed()).toBe(false);
    await viewers(['user', 'group#member']);
    expect(await allowed()).toBe(true);
  });
});
