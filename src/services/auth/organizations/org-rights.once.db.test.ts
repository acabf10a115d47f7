import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActivePrincipal, Role } from '../../../../generated/auth/types.ts';
import { operations } from '../../../../generated/operations.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import type { SignedIn } from '../testing/admin.ts';
import { orgTools } from '../testing/orgs.ts';
import { mint } from '../testing/tokens.ts';

let server: TestServer;
let api: ReturnType<typeof orgTools>;
beforeAll(async () => {
  server = await testServer({
    services: ['auth', 'authz', 'keys'],
    // Each operation is called once: other tests check the shapes.
    strict: false,
    env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' },
  });
  api = orgTools(server);
});
afterAll(() => server.close());

async function roleOf(...scopes: readonly string[]): Promise<Role> {
  const role = await api.role();
  for (const scope of scopes) {
    const [resource, action] = scope === '*' ? ['*', '*'] : scope.split(':');
    await api.send('POST', `/roles/${role.id}/permissions`, { body: { resource, action } });
  }
  return role;
}

const assign = ({ id }: Role, { user }: SignedIn, org_id: string | null = null) =>
  api.send('POST', `/roles/${id}/assign`, { body: { user_id: user.id, org_id } });

/** A member of their own organization who holds these scopes in it, where it is active. */
async function holderInOrg(...scopes: readonly string[]) {
  const who = await api.signedIn();
  const org = await api.organization({ [who.user.id]: 'member' });
  const role = await roleOf(...scopes);
  await assign(role, who, org);
  await api.send('POST', '/me/switch-org', { ...api.as(who), body: { org_id: org } });
  return { who, org, role, path: `/organizations/${org}` };
}

/** Whether the caller's rights are insufficient. Streaming responses are aborted. */
async function isRefused(token: string, verb: string, path: string): Promise<boolean> {
  const gone = new AbortController();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = verb === 'GET' || verb === 'HEAD' ? {} : { body: '{}' };
  const response = await fetch(server.url + path, { method: verb, headers, signal: gone.signal, ...body });
  const refused = response.status === 403 && /missing scope|operator only/.test(await response.text());
  gone.abort();
  return refused;
}

const guarded = operations.filter(
  ({ service, access }) =>
    ['auth', 'authz', 'keys'].includes(service) && ['read', 'write', 'admin', 'operator'].includes(access),
);

describe('a role that is held in an organization', () => {
  it('opens no operation beyond it, and the same role held in the whole app opens all', async () => {
    const { who, role } = await holderInOrg('*');
    const answers = async () => {
      const found: Record<string, boolean> = {};
      for (const { service, id, verb, path } of guarded) {
        // Nothing has such an id, and an admitted caller is told so.
        const named = `/${service}${path.replaceAll(/\{[^}]+\}/g, 'absent')}`;
        found[`${service} ${id}`] = await isRefused(who.session_token, verb, named);
      }
      return found;
    };
    const all = (refused: boolean) =>
      Object.fromEntries(guarded.map(({ service, id }) => [`${service} ${id}`, refused]));
    expect(guarded.length).toBeGreaterThan(100);
    expect(await answers()).toEqual(all(true));
    await assign(role, who);
    expect(await answers()).toEqual(all(false));
  });

  it('does not show what others may do, nor organizations of others', async () => {
    const { who, org } = await holderInOrg('*');
    const other = await api.user();
    await api.organization({ [other.id]: 'owner' });
    expect(await api.refusal('GET', `/users/${other.id}/roles`, api.as(who))).toEqual([
      403,
      'missing scope auth:read',
      'insufficient_scope',
    ]);
    const { organizations } = await api.send('GET', '/organizations', api.as(who));
    expect(organizations.map(({ id }: { id: string }) => id)).toEqual([org]);
  });

  it('counts in what is of the organization while it is active, and in no other', async () => {
    const { who, path } = await holderInOrg('auth:read', 'auth:write');
    const elsewhere = await api.organization({ [who.user.id]: 'member' });
    const rename = (at: string) => api.refusal('PATCH', at, { ...api.as(who), body: { name: 'Renamed' } });
    expect(await rename(path)).toEqual([200, '']);
    expect(await rename(`/organizations/${elsewhere}`)).toEqual([
      403,
      'needs the role admin in the organization',
      'insufficient_role',
    ]);
    expect((await rename(`/organizations/${await api.organization()}`))[0]).toBe(404);
    await api.send('POST', '/me/switch-org', { ...api.as(who), body: { org_id: elsewhere } });
    expect((await rename(path))[0]).toBe(403);
  });

  it('ends at once with the assignment', async () => {
    const { who, org, path, role } = await holderInOrg('auth:write');
    const rename = () => api.refusal('PATCH', path, { ...api.as(who), body: { name: 'Renamed' } });
    expect((await rename())[0]).toBe(200);
    await api.send('POST', `/roles/${role.id}/unassign`, { body: { user_id: who.user.id, org_id: org } });
    expect((await rename())[0]).toBe(403);
  });

  it('is told apart from what is held in the app', async () => {
    const { who, org } = await holderInOrg('auth:write', 'documents:read');
    await assign(await roleOf('keys:read'), who);
    const resolved: ActivePrincipal = await api.send('POST', '/tokens/resolve', {
      body: { token: who.session_token },
    });
    expect(resolved).toMatchObject({
      org_id: org,
      scopes: ['keys:read'],
      org_scopes: ['auth:write', 'documents:read'],
    });
  });

  it('gives nothing to an access token that was issued in it', async () => {
    const { who, org } = await holderInOrg('keys:read');
    const token = await mint(server.db, {
      sub: who.user.id,
      scope: 'keys:read',
      sid: who.session_id,
      org_id: org,
      // This is after the switch of the organization, which invalidates earlier tokens.
      iat_ms: Date.now() + 5_000,
    });
    expect((await server.request('GET', '/keys/v1/scopes', { token })).status).toBe(403);
    expect(await api.send('POST', '/tokens/resolve', { body: { token } })).toMatchObject({
      scopes: [],
      org_scopes: [],
    });
  });

  it('neither gives keys nor roles to anybody', async () => {
    const { who, role } = await holderInOrg('*');
    await assign(await roleOf('auth:read', 'auth:write', 'keys:read', 'keys:write'), who);
    const key = await server.request('POST', '/keys/v1/keys', {
      ...api.as(who),
      body: { name: 'Mine', scopes: ['authz:read'] },
    });
    expect([key.status, key.body.error]).toEqual([403, "scope exceeds the caller's own: authz:read"]);
    expect(
      (
        await api.refusal('POST', `/roles/${role.id}/assign`, {
          ...api.as(who),
          body: { user_id: who.user.id },
        })
      )[0],
    ).toBe(403);
  });
});
