import type { JWTPayload } from 'jose';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createChanges } from '../../../../db/changes.ts';
import {
  childServer,
  type ChildServer,
  masterKey,
  testServer,
  type TestServer,
} from '../../../../testing/server.ts';
import type { SignedIn } from '../../testing/admin.ts';
import { newSlug, otherApp } from '../../testing/index.ts';
import { sessionTools } from '../../testing/sessions.ts';
import { activeKey, mint, newClaims, signed } from '../../testing/tokens.ts';
import { createWriter, type ChangeKind } from '../../directory/writes.ts';

let server: TestServer;
let api: ReturnType<typeof sessionTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth', 'keys'] });
  api = sessionTools(server);
  await server.request('GET', '/auth/v1/auth/.well-known/jwks.json');
});
afterAll(() => server.close());

const resolve = (token: string) => api.send('POST', '/tokens/resolve', { body: { token } });
const inactive = { active: false };
/** A token of a client that acts for the user. */
const tokenOf = ({ user }: Pick<SignedIn, 'user'>, scope: string, claims: JWTPayload = {}) =>
  mint(server.db, { sub: user.id, app_id: user.app_id, scope, ...claims });

describe('an access token as a credential', () => {
  it('lets its client do what its scopes allow, as far as its user still may', async () => {
    const own = await api.signedIn();
    const role = await api.give(own.user, {}, ['auth:read', 'keys:*']);
    const token = await tokenOf(own, 'openid auth:read auth:write keys:read');
    expect((await server.request('GET', '/auth/v1/auth/users', { token })).status).toBe(200);
    expect((await server.request('GET', '/keys/v1/scopes', { token })).status).toBe(200);
    expect(await api.refusal('POST', '/users', { token, body: {} })).toEqual([
      403,
      'missing scope auth:write',
    ]);
    await api.send('POST', `/roles/${role.id}/unassign`, { body: { user_id: own.user.id } });
    expect((await api.refusal('GET', '/users', { token }))[0]).toBe(401);
  });

  it('acts as its user, or as its client', async () => {
    const own = await api.signedIn();
    await api.give(own.user, {}, ['auth:write']);
    const client = 'client_of_nobody';
    const tokens = [
      [await tokenOf(own, 'auth:write'), own.user.id],
      [await mint(server.db, { sub: client, client_id: client, scope: 'auth:write' }), client],
    ] as const;
    for (const [token, actor] of tokens) {
      const role = await api.role({}, { token });
      const [event] = await server.db.sql<{ actor: string }[]>`
        select actor from auth.outbox where type = 'auth.role.created' and subject = ${role.id}`;
      expect(event!.actor).toBe(actor);
    }
  });

  it('is no user: what is done in person needs a session', async () => {
    const own = await api.signedIn();
    const token = await tokenOf(own, 'openid profile');
    const org = await api.organization({ [own.user.id]: 'owner' });
    const personal = [
      ['GET', '/me'],
      ['DELETE', '/me'],
      ['GET', '/sessions'],
      ['GET', '/devices'],
      ['GET', `/users/${own.user.id}/roles`],
      ['GET', `/organizations/${org}`],
      ['DELETE', `/organizations/${org}`],
      ['GET', '/organizations'],
    ] as const;
    for (const [method, path] of personal)
      expect([path, (await api.refusal(method, path, { token }))[0]]).toEqual([path, 403]);
    expect(
      (await server.request('GET', `/auth/v1/auth/organizations/${org}`, { token: own.session_token }))
        .status,
    ).toBe(200);
  });

  it('is bound to its app', async () => {
    const { tenant, id } = await otherApp(server);
    const token = await mint(server.db, { tenant_id: tenant, app_id: id, scope: 'auth:read auth:admin' });
    expect((await api.send('GET', '/users', { token })).users).toEqual([]);
    expect((await api.refusal('GET', '/users?app_id=default', { token }))[0]).toBe(403);
    expect((await api.refusal('GET', '/signing-keys', { token }))[0]).toBe(403);
  });

  it('that is none is a 401', async () => {
    const claims = newClaims({ scope: '*' });
    const tokens = [
      'a.b.c',
      `${(await mint(server.db)).slice(0, -3)}AAA`,
      await signed(await activeKey(server.db), { ...claims, aud: 'urn:other' }),
      await signed(await activeKey(server.db), claims, { typ: 'JWT' }),
      await signed(await activeKey(server.db, 'RS256'), claims),
    ];
    for (const token of tokens) {
      expect((await api.refusal('GET', '/users', { token }))[0]).toBe(401);
      expect(await resolve(token)).toEqual(inactive);
    }
  });
});

describe('resolving', () => {
  it('answers whom an access token stands for', async () => {
    const own = await api.signedIn();
    await api.give(own.user, {}, ['auth:read']);
    const client_id = 'client_01m7w6qgepfq9s8vanppxya2w6';
    const exp = Math.floor(Date.now() / 1_000) + 600;
    const token = await tokenOf(own, 'openid auth:read auth:admin', { client_id, sid: own.session_id, exp });
    expect(await resolve(token)).toEqual({
      active: true,
      kind: 'access_token',
      tenant_id: 'default',
      app_id: 'default',
      user_id: own.user.id,
      client_id,
      session_id: own.session_id,
      org_id: null,
      scopes: ['openid', 'auth:read'],
      org_scopes: [],
      impersonated_by: null,
      expires_at: new Date(exp * 1_000).toISOString(),
      cache_ms: 5_000,
    });
  });
});

/** Records what the provider records when it revokes something. */
async function revoke(kind: ChangeKind, id: string): Promise<void> {
  const changes = createChanges({
    db: server.db,
    schema: 'auth',
    detailed: true,
    log: pino({ level: 'silent' }),
  });
  const write = createWriter({ db: server.db, changes, deliver: async () => {}, secure: async () => {} });
  await write({ tenant: 'default', app: 'default', actor: 'root' }, async ({ changed }) => changed(kind, id));
}

describe('what ends access tokens', () => {
  const losses: [what: string, lose: (own: SignedIn, roleId: string) => Promise<unknown>][] = [
    ['a ban of the user', ({ user }) => api.send('POST', `/users/${user.id}/ban`, { body: {} })],
    ['the erasure of the user', ({ user }) => api.send('DELETE', `/users/${user.id}`)],
    [
      'the end of the sign-in',
      ({ session_id, ...own }) => api.send('DELETE', `/sessions/${session_id}`, api.as(own)),
    ],
    [
      'the loss of a role',
      ({ user }, id) => api.send('POST', `/roles/${id}/unassign`, { body: { user_id: user.id } }),
    ],
    [
      'the loss of a scope of a role',
      async (_, id) => {
        const { permissions } = await api.send('GET', `/roles/${id}/permissions`);
        await api.send('DELETE', `/roles/${id}/permissions/${permissions[0].id}`);
      },
    ],
  ];
  const holder = async () => {
    const own = await api.signedIn();
    // A scope of its own: tokens with a scope that others have just lost are refused.
    const scope = `${newSlug()}:read`;
    const role = await api.give(own.user, {}, [scope]);
    const issue = (claims: JWTPayload = {}) => tokenOf(own, scope, { sid: own.session_id, ...claims });
    return { own, role, issue, token: await issue() };
  };

  it.each(losses)('%s, from its answer on, whether or not they were seen before', async (_, lose) => {
    const { own, role, issue, token } = await holder();
    const unseen = await issue();
    expect(await resolve(token)).toMatchObject({ active: true });
    await lose(own, role.id);
    expect([await resolve(token), await resolve(unseen)]).toEqual([inactive, inactive]);
  });

  it('the deletion of the app', async () => {
    const app = await api.app();
    const token = await mint(server.db, { app_id: app.id });
    expect(await resolve(token)).toMatchObject({ active: true });
    await api.send('DELETE', `/apps/${app.id}`);
    expect(await resolve(token)).toEqual(inactive);
  });

  it('nothing that happened before they were issued, or that takes no rights', async () => {
    const { own, role, issue } = await holder();
    await api.send('POST', `/roles/${role.id}/unassign`, { body: { user_id: own.user.id } });
    const later = await issue({ iat_ms: Date.now() + 2_500 });
    expect(await resolve(later)).toMatchObject({ active: true });
    await api.send('PATCH', '/me', { ...api.as(own), body: { name: 'Ada' } });
    expect(await resolve(later)).toMatchObject({ active: true });
  });

  it('a wider scope that the user lost, as far as it covered theirs', async () => {
    const own = await api.signedIn();
    const role = await api.give(own.user, {}, ['auth:*']);
    const token = await tokenOf(own, 'openid auth:read');
    expect(await resolve(token)).toMatchObject({ scopes: ['openid', 'auth:read'] });
    const { permissions } = await api.send('GET', `/roles/${role.id}/permissions`);
    await api.send('DELETE', `/roles/${role.id}/permissions/${permissions[0].id}`);
    expect(await resolve(token)).toMatchObject({ scopes: ['openid'] });
  });

  it('what came before the process began', async () => {
    const [{ own, token }, other] = [await holder(), await holder()];
    await api.send('POST', `/users/${own.user.id}/ban`, { body: {} });
    await server.restart();
    api = sessionTools(server);
    expect(await resolve(token)).toEqual(inactive);
    expect(await resolve(other.token)).toMatchObject({ active: true });
  });

  it.runIf(inject('engine') === 'postgres').each(['token', 'grant', 'client'] as const)(
    'a change of their %s, noted by another process',
    async (kind) => {
      const claims = newClaims({ gid: newSlug() });
      const id = { token: claims.jti, grant: claims['gid'] as string, client: claims.sub }[kind];
      const token = await mint(server.db, { ...claims, iat_ms: Date.now() - 1_000 });
      expect(await resolve(token)).toMatchObject({ active: true });
      await revoke(kind, id);
      await expect.poll(() => resolve(token), { timeout: 1_500 }).toEqual(inactive);
    },
  );
});

it('a rotation refuses no token, old or new', async () => {
  const old = await mint(server.db);
  const failed: unknown[] = [];
  const verify = async (token: string) => {
    const answer = await resolve(token);
    if (!answer.active) failed.push(answer);
  };
  for (let turn = 0; turn < 3; turn++) {
    const rotating = api.send('POST', '/signing-keys/rotate');
    const minted = Array.from({ length: 20 }, async () => verify(await mint(server.db)));
    await Promise.all([rotating, ...minted]);
    await Promise.all([verify(await mint(server.db)), verify(old)]);
  }
  expect(failed).toEqual([]);
});

describe.runIf(inject('engine') === 'postgres')('another process', () => {
  let child: ChildServer;
  beforeAll(async () => {
    child = await childServer({
      services: ['auth'],
      env: {
        DATABASE_URL: server.db.options.url!,
        PLINTH_ROOT_TOKEN: server.rootToken,
        PLINTH_MASTER_KEY: masterKey.toString('base64'),
        PLINTH_DATA_DIR: server.db.options.dataDir,
        PLINTH_AUTH_ISSUER: newClaims().iss!,
      },
    });
  });
  afterAll(() => child.kill());

  const there = async (token: string) =>
    (await child.request('POST', '/v1/auth/tokens/resolve', { body: { token } })).body as { active: boolean };
  const ban = ({ user }: SignedIn) => api.send('POST', `/users/${user.id}/ban`, { body: {} });
  /** Ends the connections that carry notifications. */
  const cutOff = () => server.db.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query ilike 'listen %' and pid <> pg_backend_pid()`;

  it('refuses within the bound, also when it is cut off from notices', async () => {
    for (const before of [async () => {}, cutOff]) {
      const own = await api.signedIn();
      const [seen, unseen] = [await tokenOf(own, ''), await tokenOf(own, '')];
      expect(await there(seen)).toMatchObject({ active: true });
      await before();
      await ban(own);
      await expect.poll(() => there(seen), { timeout: 1_500 }).toEqual(inactive);
      expect(await there(unseen)).toEqual(inactive);
    }
  });

  it('takes tokens of keys that turned elsewhere', async () => {
    for (let turn = 0; turn < 2; turn++) {
      await api.send('POST', '/signing-keys/rotate');
      expect(await there(await mint(server.db))).toMatchObject({ active: true });
    }
  });
});
