import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Change } from '../../../../generated/auth/types.ts';
import {
  childServer,
  type ChildServer,
  masterKey,
  testServer,
  type TestServer,
} from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import type { SignedIn } from '../testing/admin.ts';
import { sessionTools } from '../testing/sessions.ts';
import { issueToken } from './tokens.ts';

let server: TestServer;
let api: ReturnType<typeof sessionTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = sessionTools(server);
});
afterAll(() => server.close());

const resolve = (token: string) => api.send('POST', '/tokens/resolve', { body: { token } });
const inactive = { active: false };

describe('resolving', () => {
  it('answers whom a session token stands for, and what they may do now', async () => {
    const own = await api.signedIn();
    await api.give(own.user, {}, ['docs:write', 'docs:read']);
    const principal = await resolve(own.session_token);
    expect(principal).toEqual({
      active: true,
      kind: 'session',
      tenant_id: 'default',
      app_id: 'default',
      user_id: own.user.id,
      client_id: null,
      session_id: own.session_id,
      org_id: null,
      scopes: ['docs:read', 'docs:write'],
      org_scopes: [],
      impersonated_by: null,
      expires_at: expect.any(String),
      cache_ms: 5_000,
    });
    expect(await resolve(own.session_token)).toEqual(principal);
  });

  it('lets nothing be kept beyond the end of the session', async () => {
    const own = await api.signedIn();
    await server.db
      .sql`update auth.sessions set expires_at = now() + interval '2 seconds' where id = ${own.session_id}`;
    const { cache_ms } = await resolve(own.session_token);
    expect(cache_ms).toBeLessThanOrEqual(2_000);
  });

  it('says of all others that they are not good, and not why', async () => {
    const own = await api.signedIn();
    const known = own.session_token;
    await api.send('DELETE', `/sessions/${own.session_id}`, api.as(own));
    const tag = known.slice(4, 10);
    const others = [
      known,
      issueToken('pst', tag).token,
      issueToken('pst', 'zzzzzz').token,
      issueToken('prt', tag).token,
      known.slice(0, -1),
      'a.b.c',
      'nonsense',
      'x'.repeat(8_192),
    ];
    for (const token of others) expect(await resolve(token)).toEqual(inactive);
  });

  it('is for the operator', async () => {
    const { session_token } = await api.signedIn();
    const body = { token: session_token };
    const admin = await api.holding('auth:read');
    expect((await api.refusal('POST', '/tokens/resolve', { body, token: admin }))[0]).toBe(403);
    expect((await api.refusal('POST', '/tokens/resolve', { body, token: null }))[0]).toBe(401);
    expect((await api.refusal('POST', '/tokens/resolve', { body, tenant: 'acme' }))[0]).toBe(403);
    for (const bad of [{}, { token: '' }, { token: '\u0000' }, { token: 'x'.repeat(8_193) }, { token: 1 }])
      expect((await api.refusal('POST', '/tokens/resolve', { body: bad }))[0]).toBe(400);
  });
});

/** Events that remove rights from a session, and what its token resolves to afterwards. */
const losses: [what: string, lose: (own: SignedIn, roleId: string) => Promise<unknown>, after: object][] = [
  [
    'revocation',
    ({ session_id, ...own }) => api.send('DELETE', `/sessions/${session_id}`, api.as(own)),
    inactive,
  ],
  ['ban', ({ user }) => api.send('POST', `/users/${user.id}/ban`, { body: {} }), inactive],
  [
    'sign-out by the administration',
    ({ user }) => api.send('POST', `/users/${user.id}/signout-all`),
    inactive,
  ],
  ['erasure', ({ user }) => api.send('DELETE', `/users/${user.id}`), inactive],
  [
    'loss of a role',
    ({ user }, roleId) => api.send('POST', `/roles/${roleId}/unassign`, { body: { user_id: user.id } }),
    { active: true, scopes: [] },
  ],
  [
    'loss of a permission of a role',
    async (_, roleId) => {
      const { permissions } = await api.send('GET', `/roles/${roleId}/permissions`);
      await api.send('DELETE', `/roles/${roleId}/permissions/${permissions[0].id}`);
    },
    { active: true, scopes: [] },
  ],
];
const holder = async () => {
  const own = await api.signedIn();
  return { own, role: await api.give(own.user, {}, ['docs:read']) };
};

describe('the process that writes', () => {
  it.each(losses)('answers by the %s from its answer on', async (_, lose, after) => {
    const { own, role } = await holder();
    expect(await resolve(own.session_token)).toMatchObject({ active: true, scopes: ['docs:read'] });
    await lose(own, role.id);
    expect(await resolve(own.session_token)).toMatchObject(after);
  });

  it('never answers by what was read before a revocation, however the two interleave', async () => {
    for (let round = 0; round < 20; round++) {
      const own = await api.signedIn();
      const asking = Array.from({ length: 4 }, () => resolve(own.session_token));
      await api.send('DELETE', `/sessions/${own.session_id}`, api.as(own));
      expect(await resolve(own.session_token)).toEqual(inactive);
      await Promise.all(asking);
      expect(await resolve(own.session_token)).toEqual(inactive);
    }
  });
});

describe('the stream of changes', () => {
  it('tells what is refused or may do less, and since when', async () => {
    const { own, role } = await holder();
    const ended = new AbortController();
    const response = await fetch(`${server.url}/auth/v1/auth/tokens/changes`, {
      headers: { authorization: `Bearer ${server.rootToken}` },
      signal: ended.signal,
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    let text = '';
    void (async () => {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk;
    })().catch(() => {});
    await expect.poll(() => text).toContain(': hb\n\n');
    const { permissions } = await api.send('GET', `/roles/${role.id}/permissions`);
    await api.send('DELETE', `/roles/${role.id}/permissions/${permissions[0].id}`);
    await api.send('PATCH', '/me', { ...api.as(own), body: { name: 'Ada' } });
    await api.send('POST', '/signing-keys/rotate');
    await api.send('DELETE', `/sessions/${own.session_id}`, api.as(own));
    const heard = (kind: string, id: string) =>
      [...text.matchAll(/^data: (.*)$/gm)]
        .map(([, data]) => JSON.parse(data!) as Change)
        .find((change) => change.kind === kind && change.id === id);
    await expect.poll(() => heard('session', own.session_id)).toMatchObject({ effect: 'refuse' });
    await expect.poll(() => heard('scope', 'default docs:read')).toMatchObject({ effect: 'reload' });
    // Changes of signing keys stay between the processes of this service.
    expect(text).not.toContain('signing_key');
    // A new name removes no rights: no token is refused because of it.
    await expect
      .poll(() => heard('user', own.user.id))
      .toMatchObject({
        effect: 'reload',
        before: '1970-01-01T00:00:00.000Z',
      });
    // A token that is issued meanwhile with the earlier rights counts as issued before.
    const [row] = await server.db.sql<{ ahead: number }[]>`
      select extract(epoch from before - at)::float8 as ahead
      from auth.changes where kind = 'scope' and id = 'default docs:read' order by seq desc limit 1`;
    expect(row!.ahead).toBe(2);
    ended.abort();
  });

  it('410 when it does not reach back that far, 403 for others than the operator', async () => {
    expect(
      await api.refusal('GET', '/tokens/changes', { headers: { 'last-event-id': '999999999' } }),
    ).toEqual([410, 'Last-Event-ID: too old']);
    const { session_token: token } = await api.signedIn();
    expect((await api.refusal('GET', '/tokens/changes', { token }))[0]).toBe(403);
  });
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
      },
    });
  });
  afterAll(() => child.kill());

  const there = async (token: string) =>
    (await child.request('POST', '/v1/auth/tokens/resolve', { body: { token } })).body as {
      active: boolean;
      scopes?: string[];
    };

  /** Milliseconds from the response to the write until the other process reports the same. */
  async function delayOf(lose: (typeof losses)[number][1], after: object): Promise<number> {
    const { own, role } = await holder();
    expect(await there(own.session_token)).toMatchObject({ active: true, scopes: ['docs:read'] });
    await lose(own, role.id);
    const answered = performance.now();
    await until(async () => {
      const { active, scopes } = await there(own.session_token);
      return active === 'scopes' in after && (scopes?.length ?? 0) === 0;
    });
    return performance.now() - answered;
  }

  it.each(losses)('answers by the %s within the bound', async (_, lose, after) => {
    expect(await delayOf(lose, after)).toBeLessThan(1_500);
  });

  it('ends an impersonation with the right of the impersonator, within the bound', async () => {
    const admin = await api.signedIn();
    const role = await api.give(admin.user, {}, ['auth:*', 'docs:*']);
    const { own } = await holder();
    const { session_token } = await api.send('POST', '/admin/impersonate', {
      token: admin.session_token,
      body: { target_user_id: own.user.id },
    });
    expect(await there(session_token)).toMatchObject({ active: true, scopes: ['docs:read'] });
    const { permissions } = await api.send('GET', `/roles/${role.id}/permissions`);
    // The impersonator loses a scope that the user holds; the impersonator's own session stays live.
    const docs = permissions.find(({ scope }: { scope: string }) => scope === 'docs:*');
    await api.send('DELETE', `/roles/${role.id}/permissions/${docs.id}`);
    const answered = performance.now();
    await until(async () => !(await there(session_token)).active);
    expect(performance.now() - answered).toBeLessThan(1_500);
    expect(await there(admin.session_token)).toMatchObject({ active: true, scopes: ['auth:*'] });
    expect(await there(own.session_token)).toMatchObject({ active: true, scopes: ['docs:read'] });
  });

  it('hears of a revocation by notice, not only by polling', async () => {
    const delays: number[] = [];
    for (let round = 0; round < 9; round++) delays.push(await delayOf(losses[0]![1], inactive));
    expect(delays.toSorted((a, b) => a - b)[4]).toBeLessThan(250);
  });

  it('answers within the bound when it is cut off from notices', async () => {
    const revokeUnheard = async (own: SignedIn) => {
      await server.db.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query ilike 'listen %' and pid <> pg_backend_pid()`;
      return losses[0]![1](own, '');
    };
    for (let round = 0; round < 3; round++)
      expect(await delayOf(revokeUnheard, inactive)).toBeLessThan(1_500);
  });
});
