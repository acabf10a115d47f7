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

interface Told {
  readonly type: string;
  readonly data: object;
}

/** Returns the events about a subject since the last call, oldest first. */
const told = async (subject: string): Promise<Told[]> =>
  await server.db.sql<Told[]>`select type, data from keys.outbox where subject = ${subject} order by seq`;

describe('events', () => {
  it('tell the life of a key, once for each change and never for none', async () => {
    const { key } = await api.issue({ name: 'Job', scopes: ['a'], owner_id: 'o' });
    const post = (action: string, body?: object) =>
      api.send('POST', `/keys/${key.id}/${action}`, body ? { body } : {});
    for (const body of [{ name: 'Job' }, { name: 'Night job', metadata: { a: 1 } }]) {
      await api.send('PATCH', `/keys/${key.id}`, { body });
    }
    for (let again = 0; again < 2; again++) await post('scopes', { scopes: ['b', 'c'] });
    for (let again = 0; again < 2; again++)
      await api.send('DELETE', `/keys/${key.id}/scopes`, { body: { scopes: ['a'] } });
    const { rotation } = await post('rotate', { reason: 'scheduled' });
    for (let again = 0; again < 2; again++) await api.send('DELETE', `/keys/${key.id}/grace`);
    for (const action of ['suspend', 'suspend', 'reactivate', 'reactivate']) await post(action);
    for (const reason of ['left', 'again']) await post('revoke', { reason });
    await api.send('DELETE', `/keys/${key.id}`);

    expect(await told(key.id)).toEqual([
      {
        type: 'keys.key.created',
        data: {
          name: 'Job',
          prefix: 'sk',
          environment: 'live',
          scopes: ['a'],
          policy_id: null,
          owner_id: 'o',
        },
      },
      { type: 'keys.key.updated', data: { fields: ['name', 'metadata'] } },
      { type: 'keys.key.scopes_changed', data: { added: ['b', 'c'], removed: [] } },
      { type: 'keys.key.scopes_changed', data: { added: [], removed: ['a'] } },
      {
        type: 'keys.key.rotated',
        data: {
          reason: 'scheduled',
          grace_ends_at: rotation.grace_ends_at,
          old_hint: rotation.old_hint,
          new_hint: rotation.new_hint,
        },
      },
      { type: 'keys.key.grace_ended', data: { secrets: 1 } },
      { type: 'keys.key.suspended', data: {} },
      { type: 'keys.key.reactivated', data: {} },
      { type: 'keys.key.revoked', data: { reason: 'left' } },
      { type: 'keys.key.deleted', data: { name: 'Night job' } },
    ]);
  });

  it('tell the life of a policy and of a scope', async () => {
    const policy = await api.policy({ name: 'P' });
    for (let again = 0; again < 2; again++)
      await api.send('PUT', `/policies/${policy.id}`, { body: { rate_limit: 5 } });
    await api.send('DELETE', `/policies/${policy.id}`);
    expect(await told(policy.id)).toEqual([
      { type: 'keys.policy.created', data: { name: 'P' } },
      { type: 'keys.policy.updated', data: { fields: ['rate_limit'] } },
      { type: 'keys.policy.deleted', data: { name: 'P' } },
    ]);
    const scope = await api.send('POST', '/scopes', { body: { name: 'told' } });
    await api.issue({ scopes: ['told'] });
    await api.send('DELETE', `/scopes/${scope.id}`);
    expect(await told(scope.id)).toEqual([
      { type: 'keys.scope.created', data: { name: 'told' } },
      { type: 'keys.scope.deleted', data: { name: 'told', keys: 1 } },
    ]);
  });

  it('say who did it, for which tenant and app', async () => {
    const { key } = await api.issue(
      {},
      { tenant: 'told', headers: { 'x-app-id': 'shop', 'x-user-id': 'user_1' } },
    );
    const [event] = await server.db
      .sql`select tenant_id, app_id, actor from keys.outbox where subject = ${key.id}`;
    expect(event).toEqual({ tenant_id: 'told', app_id: 'shop', actor: 'user_1' });
    expect(key).toMatchObject({ app_id: 'shop', created_by: 'user_1' });
  });
});
