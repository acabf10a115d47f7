import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { type KeyEvent, keyStates, type KeyState, transitions } from './key-states.ts';
import { tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['keys'] });
  api = tools(server);
});
afterAll(() => server.close());

const later = () => new Date(Date.now() + 3_600_000).toISOString();
/** Sets the expiry to a second ago: a server may believe that the database's clock is some milliseconds behind. */
const expire = (id: string) =>
  server.db.sql`update keys.keys set expires_at = now() - interval '1 second' where id = ${id}`;

/** How a key gets into each state, and how to trigger each event over HTTP. */
const into: Record<KeyState, (id: string) => Promise<unknown>> = {
  active: async () => undefined,
  suspended: (id) => api.send('POST', `/keys/${id}/suspend`),
  expired: expire,
  revoked: (id) => api.send('POST', `/keys/${id}/revoke`),
};
const operations: [operation: string, event: KeyEvent, call: (id: string) => Promise<[number, string]>][] = [
  ['suspend', 'suspend', (id) => api.refusal('POST', `/keys/${id}/suspend`)],
  ['reactivate', 'reactivate', (id) => api.refusal('POST', `/keys/${id}/reactivate`)],
  ['rotate', 'rotate', (id) => api.refusal('POST', `/keys/${id}/rotate`)],
  ['revoke', 'revoke', (id) => api.refusal('POST', `/keys/${id}/revoke`)],
  ['assignScopes', 'change', (id) => api.refusal('POST', `/keys/${id}/scopes`, { body: { scopes: ['a'] } })],
  [
    'removeScopes',
    'change',
    (id) => api.refusal('DELETE', `/keys/${id}/scopes`, { body: { scopes: ['a'] } }),
  ],
  ['update', 'change', (id) => api.refusal('PATCH', `/keys/${id}`, { body: { description: 'changed' } })],
  [
    'update of expires_at',
    'extend',
    (id) => api.refusal('PATCH', `/keys/${id}`, { body: { expires_at: later() } }),
  ],
];
const pairs = keyStates.flatMap((state) =>
  operations.map(([name, event, call]) => ({ state, name, event, call })),
);

describe('every operation in every state', () => {
  it.each(pairs)('$state, $name: as the table says', async ({ state, event, call }) => {
    const { key } = await api.issue();
    await into[state](key.id);
    const to = transitions[state][event];
    const [status, error] = await call(key.id);
    if (to === null) expect([status, error]).toEqual([409, `key is ${state}`]);
    else expect(status).toBe(200);
    expect((await api.key(key.id)).state).toBe(to === null ? state : to === 'resumed' ? 'active' : to);
  });

  it.each(keyStates)('%s: delete makes it absent', async (state) => {
    const { key } = await api.issue();
    await into[state](key.id);
    await api.send('DELETE', `/keys/${key.id}`);
    expect((await api.refusal('GET', `/keys/${key.id}`))[0]).toBe(404);
  });

  it.each([
    ['suspended', 'SUSPENDED'],
    ['expired', 'EXPIRED'],
    ['revoked', 'REVOKED'],
  ] as const)('%s is what a validation answers', async (state, code) => {
    const { raw_key, key } = await api.issue();
    await into[state](key.id);
    expect(await api.judge(raw_key)).toMatchObject({ valid: false, code, key: { id: key.id, state } });
  });
});

describe('revoke', () => {
  it('again keeps the first moment and reason', async () => {
    const { key } = await api.issue();
    const revoke = (reason: string) => api.send('POST', `/keys/${key.id}/revoke`, { body: { reason } });
    const first = await revoke('left the company');
    expect(first).toMatchObject({ state: 'revoked', revoke_reason: 'left the company', live_secrets: 0 });
    expect(await revoke('other')).toEqual(first);
  });

  it('against reactivate at once never leaves the key active', async () => {
    for (let round = 0; round < 25; round++) {
      const { key } = await api.issue();
      await into.suspended(key.id);
      const [revoked, reactivated] = await Promise.all([
        api.refusal('POST', `/keys/${key.id}/revoke`),
        api.refusal('POST', `/keys/${key.id}/reactivate`),
      ]);
      expect(revoked[0]).toBe(200);
      expect([200, 409]).toContain(reactivated[0]);
      expect((await api.key(key.id)).state).toBe('revoked');
    }
  });
});

describe('an expired key', () => {
  it('is active again with a later end, or none', async () => {
    const { raw_key, key } = await api.issue();
    await expire(key.id);
    await api.send('PATCH', `/keys/${key.id}`, { body: { expires_at: later() } });
    expect((await api.judge(raw_key)).code).toBe('VALID');
    await expire(key.id);
    await api.send('PATCH', `/keys/${key.id}`, { body: { expires_at: null } });
    expect((await api.key(key.id)).state).toBe('active');
  });

  it('that was suspended is suspended again, not active', async () => {
    const { raw_key, key } = await api.issue();
    await into.suspended(key.id);
    await expire(key.id);
    expect((await api.judge(raw_key)).code).toBe('EXPIRED');
    const extended = await api.send('PATCH', `/keys/${key.id}`, { body: { expires_at: later() } });
    expect(extended.state).toBe('suspended');
    expect((await api.judge(raw_key)).code).toBe('SUSPENDED');
  });

  it('takes back what was read of it, its past end included', async () => {
    const { key } = await api.issue();
    await expire(key.id);
    const read = await api.key(key.id);
    expect(await api.send('PATCH', `/keys/${key.id}`, { body: read })).toEqual(read);
  });
});
