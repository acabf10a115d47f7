import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../../generated/operations.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
/** A caller that may write keys and holds nothing else. */
let writer: { apiKey: string };
beforeAll(async () => {
  server = await testServer({ services: ['keys'] });
  api = tools(server);
  writer = { apiKey: (await api.issue({ scopes: ['keys:read', 'keys:write'] })).raw_key };
});
afterAll(() => server.close());

const exceeds = (scope: string) => [403, `scope exceeds the caller's own: ${scope}`];
const later = '2099-01-01T00:00:00Z';

describe('scopes that open the platform', () => {
  it.each(['*', 'authz:read', 'keys:*', 'keys:admin', 'storage', 'sync:x:y'])(
    '%s is not given by a caller who does not hold it',
    async (scope) => {
      const refusal = await api.refusal('POST', '/keys', {
        ...writer,
        body: { name: 'x', scopes: ['mine:*', scope] },
      });
      expect(refusal).toEqual(exceeds(scope));
    },
  );

  it.each(['keys:read', 'keys:write', 'mine', 'mine:*', 'authzed:read', 'read:authz'])(
    '%s is given freely',
    async (scope) => {
      expect((await api.issue({ scopes: [scope] }, writer)).key.scopes).toEqual([scope]);
    },
  );

  it('are given below what is held', async () => {
    const { raw_key } = await api.issue({ scopes: ['keys:*', 'authz:*'] });
    const { key } = await api.issue({ scopes: ['authz:read', 'keys:admin', 'keys:*'] }, { apiKey: raw_key });
    expect(key.scopes).toEqual(['authz:read', 'keys:*', 'keys:admin']);
  });

  it.each<[string, string, object]>([
    ['assign', 'scopes', { body: { scopes: ['authz:write'] } }],
    ['rotate', 'rotate', {}],
  ])('403 to %s by a caller who does not hold them', async (_, path, options) => {
    const { key } = await api.issue({ scopes: ['authz:write'] });
    const { key: plain } = await api.issue();
    const id = path === 'scopes' ? plain.id : key.id;
    expect(await api.refusal('POST', `/keys/${id}/${path}`, { ...writer, ...options })).toEqual(
      exceeds('authz:write'),
    );
  });

  it('403 to reactivate and to extend by a caller who does not hold them', async () => {
    const { key } = await api.issue({ scopes: ['authz:write'], expires_at: '2098-01-01T00:00:00Z' });
    const patch = (expires_at: string | null) =>
      api.refusal('PATCH', `/keys/${key.id}`, { ...writer, body: { expires_at } });
    expect(await patch(later)).toEqual(exceeds('authz:write'));
    expect(await patch(null)).toEqual(exceeds('authz:write'));
    expect((await patch('2097-01-01T00:00:00Z'))[0]).toBe(200);
    await api.send('POST', `/keys/${key.id}/suspend`, writer);
    expect(await api.refusal('POST', `/keys/${key.id}/reactivate`, writer)).toEqual(exceeds('authz:write'));
    expect((await api.refusal('POST', `/keys/${key.id}/revoke`, writer))[0]).toBe(200);
  });
});

describe('scopes that open the platform, on keys that hold them,', () => {
  it('are not taken by a caller who does not hold them', async () => {
    const { key } = await api.issue({ scopes: ['authz:write', 'mine'] });
    const take = (scopes: string[]) =>
      api.refusal('DELETE', `/keys/${key.id}/scopes`, { ...writer, body: { scopes } });
    expect(await take(['mine', 'authz:write'])).toEqual(exceeds('authz:write'));
    expect((await api.key(key.id)).scopes).toEqual(['authz:write', 'mine']);
    expect((await take(['mine', 'authz:read']))[0]).toBe(200);
    expect((await api.key(key.id)).scopes).toEqual(['authz:write']);
    const scopes = await api.send('GET', '/scopes?limit=200');
    const { id } = scopes.find(({ name }: { name: string }) => name === 'authz:write');
    expect(await api.refusal('DELETE', `/scopes/${id}`, writer)).toEqual(exceeds('authz:write'));
    await api.send('DELETE', `/scopes/${id}`);
    expect((await api.key(key.id)).scopes).toEqual([]);
  });
});

describe('a key', () => {
  it('cannot raise its own rights, limits or expiry', async () => {
    const { id: policy_id } = await api.policy({ rate_limit: 1000 });
    const { id: wider } = await api.policy();
    const scopes = ['keys:read', 'keys:write'];
    const { raw_key, key } = await api.issue({ scopes, policy_id, expires_at: '2098-01-01T00:00:00Z' });
    const self = (method: string, path: string, body?: object) =>
      api.refusal(method, path, { apiKey: raw_key, ...(body && { body }) });
    const itself = [403, 'a key cannot extend itself'];
    expect(await self('POST', `/keys/${key.id}/scopes`, { scopes: ['mine'] })).toEqual(itself);
    expect(await self('POST', `/keys/${key.id}/rotate`)).toEqual(itself);
    expect(await self('PATCH', `/keys/${key.id}`, { expires_at: later })).toEqual(itself);
    expect(await self('PATCH', `/keys/${key.id}`, { expires_at: null })).toEqual(itself);
    expect(await self('PATCH', `/keys/${key.id}`, { policy_id: wider })).toEqual(itself);
    expect(await self('PATCH', `/keys/${key.id}`, { policy_id: null })).toEqual(itself);
    const own = [403, 'a key cannot change its own policy'];
    expect(await self('PUT', `/policies/${policy_id}`, { rate_limit: 0 })).toEqual(own);
    expect(await api.key(key.id)).toMatchObject({ scopes, policy_id, live_secrets: 1 });
  });

  it('may describe, reduce and end itself', async () => {
    const { raw_key, key } = await api.issue({ scopes: ['keys:write', 'mine'] });
    const apiKey = raw_key;
    await api.send('PATCH', `/keys/${key.id}`, { apiKey, body: { description: 'mine', expires_at: later } });
    await api.send('DELETE', `/keys/${key.id}/scopes`, { apiKey, body: { scopes: ['mine'] } });
    expect((await api.send('POST', `/keys/${key.id}/revoke`, { apiKey })).state).toBe('revoked');
    expect((await api.refusal('DELETE', `/keys/${key.id}`, { apiKey }))[0]).toBe(401);
  });
});

describe('every operation', () => {
  const paths = operations
    .filter(({ service }) => service === 'keys')
    .map(({ id, verb, path, access }) => ({
      id,
      verb,
      path: path
        .replace('{keyId}', 'key_01m7w6qgepfq9s8vbpxf0zva73')
        .replace('{policyId}', 'kpol_01m7w6qgepfq9s8vbysg9zj04w')
        .replace('{scopeId}', 'kscp_01m7w6qgepfq9s8vc58hzpbf9r'),
      scope: access === 'read' || access === 'write' ? `keys:${access}` : null,
    }));

  it.each(paths)('$id: 401 without credentials and with wrong ones', async ({ verb, path }) => {
    for (const options of [{ token: null }, { token: 'wrong' }, { apiKey: 'sk_live_wrong' }]) {
      const { status, body } = await server.request(verb, `/keys${path}`, options);
      expect([status, body]).toEqual([
        401,
        { error: 'credentials are missing or invalid', code: 'UNAUTHORIZED' },
      ]);
    }
  });

  it.each(paths.filter(({ scope }) => scope !== null))(
    '$id: 403 without $scope',
    async ({ verb, path, scope }) => {
      const others = ['keys:read', 'keys:write', 'authz:*', 'keys', 'other'].filter((name) => name !== scope);
      const { raw_key } = await api.issue({ scopes: others });
      const { status, body } = await server.request(verb, `/keys${path}`, { apiKey: raw_key });
      expect([status, body]).toEqual([403, { error: `missing scope ${scope}`, code: 'FORBIDDEN' }]);
    },
  );

  it('changes: 403 for everyone but the operator', async () => {
    const { raw_key } = await api.issue({ scopes: ['keys:*'] }, { tenant: 'other' });
    expect(await api.refusal('GET', '/changes', { apiKey: raw_key })).toEqual([403, 'operator only']);
    expect(await api.refusal('GET', '/changes', { tenant: 'other' })).toEqual([403, 'operator only']);
  });
});
