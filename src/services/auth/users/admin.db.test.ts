import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ImpersonationResult, Role, Session, User } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { adminTools, type SignedIn } from '../testing/admin.ts';
import { mint } from '../testing/tokens.ts';
import { newSlug } from '../testing/index.ts';

const absent = 'user_01m7w6qgepfq9s8v7qdkvzwn91';

let server: TestServer;
let api: ReturnType<typeof adminTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = adminTools(server);
});
afterAll(() => server.close());

/** A signed-in user who may administer. */
async function administrator(...scopes: string[]): Promise<SignedIn> {
  const signedIn = await api.signedIn();
  await api.give(signedIn.user, {}, ['auth:*', ...scopes]);
  return signedIn;
}

const impersonate = (
  { id }: Pick<User, 'id'>,
  token?: string,
  body: object = {},
): Promise<ImpersonationResult> =>
  api.send('POST', '/admin/impersonate', {
    ...(token === undefined ? {} : { token }),
    body: { target_user_id: id, ...body },
  });
const refusal = (id: string, token: string | null, body: object = {}) =>
  api.refusal('POST', '/admin/impersonate', { token, body: { target_user_id: id, ...body } });
const ownRoles = async (user: User, token: string) =>
  (await server.request('GET', `/auth/v1/auth/users/${user.id}/roles`, { token })).status;

describe('impersonate', () => {
  it('answers a session as the user, which lasts 15 minutes, an hour in all', async () => {
    const [admin, target] = [await administrator(), await api.user()];
    const answer = await server.request('POST', '/auth/v1/auth/admin/impersonate', {
      token: admin.session_token,
      body: { target_user_id: target.id, app_id: 'default', reason: 'case 4711' },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      session_token: expect.stringMatching(/^pst_/),
      refresh_token: expect.stringMatching(/^prt_/),
      expires_at: expect.any(String),
      impersonated_by: admin.user.id,
      target_user: target,
    });
    expect(await ownRoles(target, answer.body.session_token)).toBe(200);
    expect(await ownRoles(admin.user, answer.body.session_token)).toBe(403);
    const { sessions } = (await api.send('GET', `/users/${target.id}/sessions`)) as { sessions: Session[] };
    expect(sessions).toEqual([
      expect.objectContaining({
        kind: 'impersonation',
        impersonated_by: admin.user.id,
        expires_at: answer.body.expires_at,
      }),
    ]);
    const lasts = (until: string) => (Date.parse(until) - Date.parse(sessions[0]!.created_at)) / 60_000;
    expect(lasts(sessions[0]!.expires_at)).toBeCloseTo(15, 2);
    expect(lasts(sessions[0]!.refresh_expires_at)).toBeCloseTo(60, 2);
    const [event] = await server.db.sql`
      select actor, data from auth.outbox where subject = ${target.id} and type = 'auth.impersonated'`;
    expect(event).toEqual({
      actor: admin.user.id,
      data: {
        app_id: 'default',
        actor: admin.user.id,
        user_id: target.id,
        session_id: sessions[0]!.id,
        reason: 'case 4711',
      },
    });
  });

  it('never outlives the session that began it', async () => {
    const [admin, target] = [await administrator(), await api.user()];
    await server.db.sql`
      update auth.sessions set refresh_expires_at = now() + interval '5 minutes' where id = ${admin.session_id}`;
    const { expires_at } = await impersonate(target, admin.session_token);
    expect(Date.parse(expires_at)).toBeLessThan(Date.now() + 6 * 60_000);
  });

  it('ends with the session that began it', async () => {
    const [admin, target] = [await administrator(), await api.user()];
    const { session_token } = await impersonate(target, admin.session_token);
    expect(await ownRoles(target, session_token)).toBe(200);
    await api.send('POST', `/users/${admin.user.id}/signout-all`);
    expect(await ownRoles(target, session_token)).toBe(401);
  });

  it('ends when the target is banned', async () => {
    const target = await api.user();
    const { session_token } = await impersonate(target);
    await api.send('POST', `/users/${target.id}/ban`);
    expect(await ownRoles(target, session_token)).toBe(401);
    expect(await refusal(target.id, server.rootToken)).toEqual([403, 'user is banned', 'user_banned']);
  });

  it.each<[string, (own: { admin: SignedIn; role: Role }) => Promise<unknown>]>([
    [
      'is taken from them',
      ({ admin, role }) =>
        api.send('POST', `/roles/${role.id}/unassign`, { body: { user_id: admin.user.id } }),
    ],
    [
      'is no permission of their role any more',
      async ({ role }) => {
        const { permissions } = await api.send('GET', `/roles/${role.id}/permissions`);
        await api.send('DELETE', `/roles/${role.id}/permissions/${permissions[0].id}`);
      },
    ],
    ['goes with their role', ({ role }) => api.send('DELETE', `/roles/${role.id}`)],
    [
      'is not inherited any more',
      ({ role }) => api.send('PATCH', `/roles/${role.id}`, { body: { parent_id: null } }),
    ],
    ['ends with a ban', ({ admin }) => api.send('POST', `/users/${admin.user.id}/ban`)],
    ['ends with their account', ({ admin }) => api.send('DELETE', `/users/${admin.user.id}`)],
    ['ends with their sign-out', ({ admin }) => api.send('POST', '/signout', { token: admin.session_token })],
  ])('ends at once when the right of the impersonator %s', async (how, lose) => {
    const admin = await api.signedIn();
    const inherits = how.startsWith('is not inherited');
    const held = await api.role();
    await api.send('POST', `/roles/${held.id}/permissions`, { body: { resource: 'auth', action: '*' } });
    const role = inherits ? await api.role({ parent_id: held.id }) : held;
    await api.send('POST', `/roles/${role.id}/assign`, { body: { user_id: admin.user.id } });
    const target = await api.user();
    const { session_token, refresh_token } = await impersonate(target, admin.session_token);
    expect(await ownRoles(target, session_token)).toBe(200);
    await lose({ admin, role });
    expect(await ownRoles(target, session_token)).toBe(401);
    const refreshed = await api.refusal('POST', '/refresh', { token: null, body: { refresh_token } });
    expect(refreshed).toEqual([401, 'invalid credentials']);
    expect(await api.send('GET', `/users/${target.id}/sessions`)).toEqual({ sessions: [] });
    if (!how.startsWith('ends')) {
      const [event] = await server.db.sql`
        select data ->> 'reason' as reason from auth.outbox
        where type = 'auth.session.revoked' and data ->> 'user_id' = ${target.id}`;
      expect(event).toEqual({ reason: 'impersonator_lost_rights' });
    }
  });

  it('ends when the target holds more than the impersonator, and goes on while the impersonator holds enough', async () => {
    const [admin, target] = [await administrator(), await api.user()];
    const other = await api.give(admin.user, {}, ['documents:read']);
    const { session_token, refresh_token } = await impersonate(target, admin.session_token);
    await api.send('DELETE', `/roles/${other.id}`);
    expect(await ownRoles(target, session_token)).toBe(200);
    await api.give(target, {}, ['keys:write']);
    expect(await ownRoles(target, session_token)).toBe(401);
    expect((await api.refusal('POST', '/refresh', { token: null, body: { refresh_token } }))[0]).toBe(401);
  });

  it('is refused, whatever was missed: by the token and by a refresh', async () => {
    const [admin, target] = [await administrator(), await api.user()];
    const { refresh_token } = await impersonate(target, admin.session_token);
    const { session_token } = await impersonate(target, admin.session_token);
    await server.db.sql`delete from auth.assignments where user_id = ${admin.user.id}`;
    expect(await ownRoles(target, session_token)).toBe(401);
    expect((await api.refusal('POST', '/refresh', { token: null, body: { refresh_token } }))[0]).toBe(401);
  });

  it('cannot be begun by an access token', async () => {
    const admin = await administrator();
    const token = await mint(server.db, { sub: admin.user.id, scope: 'auth:admin' });
    expect(await refusal((await api.user()).id, token)).toEqual([
      403,
      'an access token cannot impersonate; sign in with a session',
    ]);
  });

  it('by root is by root', async () => {
    expect((await impersonate(await api.user())).impersonated_by).toBe('root');
  });

  it('is refused from inside an impersonation', async () => {
    const admin = await administrator();
    const other = await administrator();
    const { session_token } = await impersonate(other.user, admin.session_token);
    expect(await refusal((await api.user()).id, session_token)).toEqual([
      403,
      'not allowed while impersonating',
      'impersonated',
    ]);
  });

  it('is refused where the target holds what the caller lacks, in whatever organization', async () => {
    const admin = await administrator();
    const refused = [
      403,
      'cannot give documents:read, which the caller does not hold',
      'grant_exceeds_caller',
    ];
    const target = await api.user();
    const role = await api.give(target, {}, ['documents:read']);
    expect(await refusal(target.id, admin.session_token)).toEqual(refused);
    const member = await api.user();
    const org_id = await api.organization({ [member.id]: 'member' });
    await api.send('POST', `/roles/${role.id}/assign`, { body: { user_id: member.id, org_id } });
    expect(await refusal(member.id, admin.session_token)).toEqual(refused);
    const covering = await administrator('documents:*');
    expect((await impersonate(target, covering.session_token)).target_user.id).toBe(target.id);
  });

  it('404 for a user of another app or tenant, 403 for another app', async () => {
    const admin = await administrator();
    const tenant = newSlug();
    const app = await api.app();
    const strangers = [
      await api.user({ app_id: app.id }),
      (await api.signedIn({ tenant, app: await api.app({}, { tenant }) })).user,
    ];
    for (const { id } of [...strangers, { id: absent }])
      expect(await refusal(id, admin.session_token)).toEqual([404, 'user not found']);
    expect((await refusal(strangers[0]!.id, admin.session_token, { app_id: app.id }))[0]).toBe(403);
    expect((await impersonate(strangers[0]!, undefined, { app_id: app.id })).target_user.app_id).toBe(app.id);
  });

  it('needs auth:admin', async () => {
    const { id } = await api.user();
    expect((await refusal(id, null))[0]).toBe(401);
    expect(await refusal(id, await api.holding('auth:read', 'auth:write'))).toEqual([
      403,
      'missing scope auth:admin',
    ]);
    const refused = await refusal('user_1', server.rootToken);
    expect(refused).toEqual([400, expect.stringContaining('target_user_id')]);
  });
});

describe('inside an impersonation', () => {
  it('events carry both ids', async () => {
    const admin = await administrator();
    const target = await api.signedIn();
    await api.give(target.user, {}, ['auth:read', 'auth:write']);
    const { session_token: token } = await impersonate(target.user, admin.session_token);
    const role = await api.role({}, { token });
    const [event] = await server.db.sql`
      select actor, data ->> 'impersonated_by' as by from auth.outbox where subject = ${role.id}`;
    expect(event).toEqual({ actor: target.user.id, by: admin.user.id });
  });

  it('deletion and second factors are refused, of whoever', async () => {
    const admin = await administrator();
    const target = await administrator();
    const { session_token: token } = await impersonate(target.user, admin.session_token);
    for (const { id } of [target.user, await api.user()])
      for (const path of [`/users/${id}`, `/users/${id}/mfa`])
        expect(await api.refusal('DELETE', path, { token })).toEqual([
          403,
          'not allowed while impersonating',
          'impersonated',
        ]);
  });

  it('stop ends it, and nothing else', async () => {
    const admin = await administrator();
    const target = await api.signedIn();
    const { session_token: token } = await impersonate(target.user, admin.session_token);
    expect(await api.send('POST', '/admin/impersonate/stop', { token })).toEqual({ status: 'stopped' });
    expect(await ownRoles(target.user, token)).toBe(401);
    expect(await ownRoles(target.user, target.session_token)).toBe(200);
    expect(await ownRoles(admin.user, admin.session_token)).toBe(200);
    const [event] = await server.db.sql`
      select data from auth.outbox
      where type = 'auth.session.revoked' and data ->> 'user_id' = ${target.user.id}`;
    expect(event!.data).toMatchObject({ reason: 'impersonation_stopped', impersonated_by: admin.user.id });
  });

  it('who does not impersonate has nothing to stop', async () => {
    const { session_token: token } = await api.signedIn();
    expect(await api.refusal('POST', '/admin/impersonate/stop', { token })).toEqual([
      403,
      'not impersonating',
    ]);
    expect((await api.refusal('POST', '/admin/impersonate/stop', { token: null }))[0]).toBe(401);
  });
});
