import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../../generated/operations.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
const ids: Record<string, string> = {};
let rawKey: string;
beforeAll(async () => {
  server = await testServer({ services: ['keys'] });
  api = tools(server);
  const tenant = 'owner';
  const { raw_key, key } = await api.issue({ scopes: ['a'] }, { tenant });
  rawKey = raw_key;
  ids['keyId'] = key.id;
  ids['policyId'] = (await api.policy({}, { tenant })).id;
  ids['scopeId'] = (await api.send('GET', '/scopes', { tenant }))[0].id;
});
afterAll(() => server.close());

const absent: Record<string, string> = {
  keyId: 'key_01m7w6qgepfq9s8vbpxf0zva7z',
  policyId: 'kpol_01m7w6qgepfq9s8vbysg9zj04z',
  scopeId: 'kscp_01m7w6qgepfq9s8vc58hzpbf9z',
};
const bodies: Record<string, object> = {
  Keys_update: { description: 'taken over' },
  Keys_assignScopes: { scopes: ['b'] },
  Keys_removeScopes: { scopes: ['a'] },
  Policies_update: { description: 'taken over' },
};
const withId = operations.filter(({ service, path }) => service === 'keys' && path.includes('{'));
const fill = (path: string, values: Record<string, string>) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name) => values[name]!);

describe('a stranger', () => {
  it.each(withId)(
    "$id: another tenant's id answers byte for byte as one that does not exist",
    async ({ id, verb, path }) => {
      const ask = (values: Record<string, string>) =>
        server.request(verb, `/keys${fill(path, values)}`, {
          tenant: 'stranger',
          ...(bodies[id] && { body: bodies[id] }),
        });
      const [theirs, nobodys] = [await ask(ids), await ask(absent)];
      expect(theirs.status).toBe(404);
      expect(theirs.text).toBe(nobodys.text);
    },
  );

  it("cannot use another tenant's policy", async () => {
    const create = (policy_id: string) =>
      api.refusal('POST', '/keys', { tenant: 'stranger', body: { name: 'x', policy_id } });
    expect(await create(ids['policyId']!)).toEqual([404, 'policy not found']);
    const { key } = await api.issue({}, { tenant: 'stranger' });
    const body = { policy_id: ids['policyId'] };
    expect(await api.refusal('PATCH', `/keys/${key.id}`, { tenant: 'stranger', body })).toEqual([
      404,
      'policy not found',
    ]);
  });

  it('learns nothing from a raw key of another tenant', async () => {
    const unknown = 'sk_live_000001003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf2mcEX8';
    await api.issue({}, { tenant: 'stranger' });
    const ask = (raw: string) => api.judge(raw, {}, { tenant: 'stranger' });
    expect(await ask(rawKey)).toEqual(await ask(unknown));
    expect((await ask(rawKey)).code).toBe('NOT_FOUND');
  });

  it('finds the names of another tenant free, and lists nothing of it', async () => {
    const tenant = 'stranger-2';
    expect(await api.send('GET', '/keys', { tenant })).toEqual([]);
    expect(await api.send('GET', '/policies', { tenant })).toEqual([]);
    expect(await api.send('GET', '/scopes', { tenant })).toEqual([]);
    expect((await api.send('POST', '/scopes', { tenant, body: { name: 'a' } })).name).toBe('a');
  });
});

describe('the operator', () => {
  it('sees what a raw key of any tenant is', async () => {
    expect(await api.judge(rawKey)).toMatchObject({
      valid: true,
      key: { id: ids['keyId'], tenant_id: 'owner' },
    });
  });

  it('who names a tenant is confined to it', async () => {
    expect((await api.judge(rawKey, {}, { tenant: 'owner' })).code).toBe('VALID');
    expect((await api.judge(rawKey, {}, { tenant: 'default' })).code).toBe('NOT_FOUND');
  });
});
