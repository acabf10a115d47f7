import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Session, User } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { adminTools } from '../testing/admin.ts';
import { newEmail, newSlug } from '../testing/index.ts';

let server: TestServer;
let api: ReturnType<typeof adminTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = adminTools(server);
});
afterAll(() => server.close());

const status = async (token: string) =>
  (await server.request('GET', '/auth/v1/auth/roles?limit=1', { token })).status;

describe('create', () => {
  it('answers all members, and gives the default role of the app', async () => {
    const email = newEmail();
    const user = await api.user({
      email: ` ${email.toUpperCase()} `.trim(),
      username: `Ada-${newSlug()}`,
      name: ' Ada Lovelace ',
      password: 'correct horse battery staple',
      phone: '+4930901820',
      email_verified: true,
      metadata: { company: 'Analytical Engines' },
    });
    expect(user).toEqual({
      id: expect.stringMatching(/^user_/),
      app_id: 'default',
      email,
      username: expect.stringMatching(/^Ada-/),
      name: 'Ada Lovelace',
      image: null,
      email_verified: true,
      phone: '+4930901820',
      phone_verified: false,
      banned: false,
      ban_reason: null,
      ban_expires_at: null,
      last_signin_at: null,
      metadata: { company: 'Analytical Engines' },
      created_at: expect.any(String),
      updated_at: user.created_at,
    });
    expect(await api.send('GET', `/users/${user.id}`)).toEqual(user);
    const { roles } = await api.send('GET', `/users/${user.id}/roles`);
    expect(roles).toEqual([expect.objectContaining({ slug: 'user', org_id: null })]);
    const [stored] = await server.db.sql`select password_hash from auth.users where id = ${user.id}`;
    expect(stored!.password_hash).toMatch(/^\$argon2id\$/);
    const [event] = await server.db.sql`select type, data from auth.outbox where subject = ${user.id}`;
    expect(event).toEqual({ type: 'user.created', data: { app_id: 'default', user_id: user.id, email } });
  });

  it('of thirty at once with one address one succeeds; usernames are one whatever their case', async () => {
    const email = newEmail();
    const username = newSlug();
    const create = (body: object) => server.request('POST', '/auth/v1/auth/users', { body });
    const counts = async (bodies: object[], error: string) => {
      const answers = await Promise.all(bodies.map(create));
      expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
      expect(answers.filter((answer) => answer.status === 409).map(({ body }) => body)).toEqual(
        Array(29).fill({ error, code: 'CONFLICT' }),
      );
    };
    await counts(Array(30).fill({ email }), 'email already taken');
    await counts(
      Array.from({ length: 30 }, (_, n) => ({ username: n % 2 ? username : username.toUpperCase() })),
      'username already taken',
    );
  });

  it.each<[string, object]>([
    ['email', { email: 'not an address' }],
    ['email', { email: `${'x'.repeat(250)}@example.com` }],
    ['email', { email: null }],
    ['password', { password: 'short' }],
    ['password', { password: 'password1' }],
    ['password', { password: 'x'.repeat(257) }],
    ['username', { username: 'a' }],
    ['username', { username: 'a b c' }],
    ['name', { name: 'a\nb' }],
    ['name', { name: 'a\u0000b' }],
    ['name', { name: '\ud800' }],
    ['name', { name: 'x'.repeat(129) }],
    ['phone', { phone: '030 901820' }],
    ['phone', { phone: '+4999999999999' }],
    ['metadata', { metadata: { a: { b: { c: { d: { e: { f: 1 } } } } } } }],
    ['metadata', { metadata: { a: 'x'.repeat(17_000) } }],
    ['metadata', { metadata: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`m${n}`, n])) }],
    ['emial', { emial: 'x' }],
  ])('400 names %s', async (field, body) => {
    const refused = await api.refusal('POST', '/users', { body: { email: newEmail(), ...body } });
    expect(refused.slice(0, 2)).toEqual([400, expect.stringContaining(field)]);
  });
});

describe('list', () => {
  const walk = async (query: string) =>
    ((await api.send('GET', `/users?${query}`)) as { users: User[] }).users.map(({ id }) => id);

  it('answers the users of the app, newest first, page by page', async () => {
    const app = await api.app();
    const made = [];
    for (const _ of [1, 2, 3]) made.unshift((await api.user({ app_id: app.id })).id);
    const first = await server.request('GET', `/auth/v1/auth/users?app_id=${app.id}&limit=2`);
    const cursor = first.headers.get('x-next-cursor');
    expect(first.body.users.map(({ id }: User) => id)).toEqual(made.slice(0, 2));
    expect(await walk(`app_id=${app.id}&limit=2&cursor=${cursor}`)).toEqual(made.slice(2));
    expect(await api.refusal('GET', '/users?cursor=nonsense')).toEqual([
      400,
      expect.stringContaining('cursor'),
    ]);
  });

  it('finds by address, by what a name begins with, and by ban', async () => {
    const app = await api.app();
    const of = `app_id=${app.id}`;
    const user = (body: object) => api.user({ app_id: app.id, email: null, ...body });
    const [ada, other] = [
      await user({ email: 'ada_1@example.com', username: 'Countess', name: 'Lovelace' }),
      await user({ email: 'adax1@example.com', username: 'other', name: '100% Other' }),
    ];
    for (const text of ['ADA_', 'count', 'LOVE', 'ada_1@example.com'])
      expect([text, await walk(`${of}&search=${encodeURIComponent(text)}`)]).toEqual([text, [ada.id]]);
    expect(await walk(`${of}&search=100%25`)).toEqual([other.id]);
    for (const text of ['%', '_', '\\', 'velace', 'x'])
      expect([text, await walk(`${of}&search=${encodeURIComponent(text)}`)]).toEqual([text, []]);
    expect(await walk(`${of}&search=ada`)).toEqual([other.id, ada.id]);
    expect(await walk(`${of}&email=ADA_1%40example.com`)).toEqual([ada.id]);
    await api.send('POST', `/users/${other.id}/ban`, { headers: { 'X-App-ID': app.id } });
    expect(await walk(`${of}&banned=true`)).toEqual([other.id]);
    expect(await walk(`${of}&banned=false`)).toEqual([ada.id]);
  });
});

describe('update', () => {
  it('changes what is present and keeps the rest; what was read can be written back', async () => {
    const user = await api.user({ name: 'Ada', metadata: { a: 1 } });
    const update = (body: object) => api.send('PATCH', `/users/${user.id}`, { body });
    expect(await update(user)).toEqual(user);
    const changed = await update({
      name: null,
      username: `u${newSlug()}`,
      image: 'https://example.com/a.png',
    });
    expect(changed).toMatchObject({ email: user.email, name: null, image: 'https://example.com/a.png' });
    expect(await update({ metadata: { b: 2 } })).toMatchObject({ metadata: { b: 2 } });
    const [event] = await server.db.sql`
      select data from auth.outbox where subject = ${user.id} and type = 'user.updated' order by seq limit 1`;
    expect(event!.data).toMatchObject({ fields: ['username', 'name', 'image'] });
  });

  it('an address that is changed is not verified, and voids what was mailed to the old one', async () => {
    const user = await api.user({ email_verified: true });
    await server.db.sql`
      insert into auth.one_time (tenant_id, app_id, purpose, subject, hash, expires_at)
      values ('default', 'default', 'reset_password', ${user.id}, ${Buffer.alloc(32)}, now() + interval '1 hour')`;
    const email = newEmail();
    const update = (body: object) => api.send('PATCH', `/users/${user.id}`, { body });
    expect(await update({ email })).toMatchObject({ email, email_verified: false });
    expect(await server.db.sql`select from auth.one_time where subject = ${user.id}`).toHaveLength(0);
    expect(await update({ email_verified: true })).toMatchObject({ email_verified: true });
    expect(await update({ email: newEmail(), email_verified: true })).toMatchObject({ email_verified: true });
  });

  it('400 for an account that nothing leads to, 409 for what another account has', async () => {
    const [user, other] = [await api.user(), await api.user({ username: `u${newSlug()}` })];
    const refused = (body: object) => api.refusal('PATCH', `/users/${user.id}`, { body });
    expect(await refused({ email: null })).toEqual([400, expect.stringContaining('email: ')]);
    expect(await refused({ email: other.email })).toEqual([409, 'email already taken']);
    expect(await refused({ username: other.username!.toUpperCase() })).toEqual([
      409,
      'username already taken',
    ]);
  });
});

const ban = (id: string, body?: object): Promise<User> => api.send('POST', `/users/${id}/ban`, { body });

describe('ban', () => {
  it('ends all sessions and grants at once, and lasts until it is ended', async () => {
    const { user, session_token } = await api.signedIn();
    const second = await api.signIn(user);
    await server.db.sql`
      insert into auth.oidc (model, id_hash, payload, user_id, tenant_id)
      values ('Grant', ${Buffer.from(user.id)}, '{}', ${user.id}, 'default')`;
    expect([await status(session_token), await status(second.session_token)]).toEqual([403, 403]);
    const banned = await ban(user.id, { reason: 'spam' });
    expect(banned).toMatchObject({ banned: true, ban_reason: 'spam', ban_expires_at: null });
    expect([await status(session_token), await status(second.session_token)]).toEqual([401, 401]);
    expect(await server.db.sql`select from auth.oidc where user_id = ${user.id}`).toHaveLength(0);
    expect(
      await server.db.sql`select from auth.changes where kind = 'user' and id = ${user.id}`,
    ).not.toHaveLength(0);

    const unbanned = await api.send('POST', `/users/${user.id}/unban`);
    expect(unbanned).toMatchObject({ banned: false, ban_reason: null });
    expect(await api.send('POST', `/users/${user.id}/unban`)).toEqual(unbanned);
    const events = await server.db.sql`
      select type, data ->> 'reason' as reason from auth.outbox where subject = ${user.id} order by seq`;
    expect(events.map((event) => ({ ...event }))).toEqual([
      { type: 'user.created', reason: null },
      { type: 'user.banned', reason: 'spam' },
      { type: 'user.unbanned', reason: null },
    ]);
  });

  it('ends by itself when it expires', async () => {
    const { id } = await api.user();
    const expires_at = '2099-01-01T00:00:00.000Z';
    expect(await ban(id, { expires_at })).toMatchObject({ banned: true, ban_expires_at: expires_at });
    await server.db.sql`update auth.users set ban_expires_at = now() - interval '1 second' where id = ${id}`;
    expect(await api.send('GET', `/users/${id}`)).toMatchObject({
      banned: false,
      ban_reason: null,
      ban_expires_at: null,
    });
  });

  it('400 for an end that is past', async () => {
    const { id } = await api.user();
    const body = { expires_at: '2020-01-01T00:00:00Z' };
    expect(await api.refusal('POST', `/users/${id}/ban`, { body })).toEqual([
      400,
      'expires_at: must be in the future',
    ]);
  });
});

describe('sessions', () => {
  it('are listed with all members, newest first, and all ended at once', async () => {
    const { user, session_token } = await api.signedIn();
    const { session_id } = await api.signIn(user);
    const list = async (): Promise<Session[]> =>
      (await api.send('GET', `/users/${user.id}/sessions`)).sessions;
    const sessions = await list();
    expect(sessions).toHaveLength(2);
    expect(sessions[0]).toMatchObject({ id: session_id, user_id: user.id, kind: 'api', current: false });
    expect(await api.send('POST', `/users/${user.id}/signout-all`)).toEqual({ status: 'revoked', count: 2 });
    expect(await api.send('POST', `/users/${user.id}/signout-all`)).toEqual({ status: 'revoked', count: 0 });
    expect(await list()).toEqual([]);
    expect(await status(session_token)).toBe(401);
  });

  it('the one that asks is the current one', async () => {
    const { user, session_id, session_token: token } = await api.signedIn();
    await api.give(user, {}, ['auth:read']);
    const { sessions } = await api.send('GET', `/users/${user.id}/sessions`, { token });
    expect(sessions).toEqual([expect.objectContaining({ id: session_id, current: true })]);
  });
});

it('resetMfa removes factors, recovery codes and open challenges', async () => {
  const { id } = await api.user();
  const { sql } = server.db;
  await sql`
    insert into auth.enrollments (id, tenant_id, user_id, method, verified)
    values (${newId('mfa')}, 'default', ${id}, 'totp', true), (${newId('mfa')}, 'default', ${id}, 'sms', false)`;
  await sql`insert into auth.recovery_codes (tenant_id, user_id, hash) values ('default', ${id}, ${Buffer.alloc(32)})`;
  for (const _ of [1, 2]) expect(await api.send('DELETE', `/users/${id}/mfa`)).toEqual({ status: 'removed' });
  for (const table of ['enrollments', 'recovery_codes'])
    expect(await sql`select from ${sql(`auth.${table}`)} where user_id = ${id}`).toHaveLength(0);
  const events = await sql`select data from auth.outbox where subject = ${id} and type = 'auth.mfa_disabled'`;
  expect(events.map(({ data }) => data.method)).toEqual(['totp']);
});

describe('roles of a user', () => {
  it('users see their own; those of others need auth:read', async () => {
    const [one, other] = [await api.signedIn(), await api.signedIn()];
    const roles = (of: User, token: string) => api.refusal('GET', `/users/${of.id}/roles`, { token });
    expect(await roles(one.user, one.session_token)).toEqual([200, '']);
    expect(await roles(other.user, one.session_token)).toEqual([
      403,
      'missing scope auth:read',
      'insufficient_scope',
    ]);
    expect(await roles(other.user, await api.holding('auth:read'))).toEqual([200, '']);
  });
});
