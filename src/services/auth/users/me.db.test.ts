import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PersonalData, User } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newEmail, newSlug, otherApp } from '../testing/index.ts';
import { sessionTools } from '../testing/sessions.ts';

const argon = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };
const password = 'correct horse battery staple';
const me = '/auth/v1/auth/me';

let server: TestServer;
let api: ReturnType<typeof sessionTools>;
beforeAll(async () => {
  const env = { ...argon, PLINTH_AUTH_FRESH: '10m' };
  server = await testServer({ services: ['auth'], env, trustedProxy: ['127.0.0.1'] });
  api = sessionTools(server);
});
afterAll(() => server.close());

describe('the own account', () => {
  it('is answered whole, to the session and to root for the user', async () => {
    const own = await api.signedIn({}, { name: 'Ada', metadata: { company: 'Engines' } });
    expect(await api.send('GET', '/me', api.as(own))).toEqual(own.user);
    expect(await api.send('GET', '/me', { headers: { 'X-User-ID': own.user.id } })).toEqual(own.user);
  });

  it('is nobody else’s, whatever a trusted proxy hands on of what a client sends', async () => {
    const [own, other] = [await api.signedIn(), await api.signedIn()];
    const headers = { 'X-User-ID': other.user.id, 'X-Tenant-ID': 'other', 'X-App-ID': 'other' };
    const options = { ...api.as(own), headers };
    expect(await api.send('GET', '/me', options)).toEqual(own.user);
    expect((await api.send('GET', '/me/export', options)) as PersonalData).toMatchObject({ user: own.user });
    await api.send('DELETE', '/me', options);
    expect(await api.send('GET', '/me', api.as(other))).toEqual(other.user);
  });

  it('is told anew after each change of it, whoever makes it', async () => {
    const own = await api.signedIn();
    const known = () => api.send('GET', '/me', api.as(own)) as Promise<User>;
    await known();
    const changed = await api.send('PATCH', '/me', { ...api.as(own), body: { name: 'Ada' } });
    expect(await known()).toEqual(changed);
    const moved = await api.send('PATCH', `/users/${own.user.id}`, { body: { email: newEmail() } });
    expect(await known()).toEqual(moved);
    expect(moved).toMatchObject({ name: 'Ada', email_verified: false });
  });

  it('is not found where there is none that root names', async () => {
    const app = await otherApp(server);
    const foreign = await api.signedIn({ app, tenant: app.tenant });
    for (const id of [foreign.user.id, 'nobody'])
      for (const [method, path] of [
        ['GET', '/me'],
        ['DELETE', '/me'],
        ['GET', '/me/export'],
      ] as const)
        expect(await api.refusal(method, path, { headers: { 'X-User-ID': id } })).toEqual([
          404,
          'user not found',
        ]);
    expect(await api.isIn(foreign)).toBe(true);
  });

  it.each<[string, string, object?]>([
    ['GET', '/me'],
    ['PATCH', '/me', {}],
    ['DELETE', '/me'],
    ['GET', '/me/export'],
    ['POST', '/me/switch-org', {}],
    ['POST', '/me/reauthenticate', { password }],
  ])('%s %s: 401 without credentials, 403 without a user', async (method, path, body) => {
    const options = body === undefined ? {} : { body };
    expect((await api.refusal(method, path, { token: null, ...options }))[0]).toBe(401);
    expect((await api.refusal(method, path, options))[0]).toBe(403);
  });

  it('is closed to what is no session token of now', async () => {
    const own = await api.signedIn();
    await server.db
      .sql`update auth.sessions set expires_at = now() - interval '1 second' where id = ${own.session_id}`;
    expect(await api.isIn(own)).toBe(false);
    const { session_token } = await api.signedIn();
    for (const token of [
      session_token.slice(0, -1),
      `${session_token}x`,
      session_token.replace('pst', 'prt'),
      'pst_',
    ])
      expect((await server.request('GET', me, { token })).status).toBe(401);
  });
});

describe('a change of the own account', () => {
  it('keeps what is absent, cleans what is given, and tells which fields', async () => {
    const own = await api.signedIn({}, { name: 'Ada' });
    const username = `Ada-${newSlug()}`;
    const changed = (await api.send('PATCH', '/me', {
      ...api.as(own),
      body: { username, image: ' https://example.com/a.png ', metadata: { a: { b: 1 } } },
    })) as User;
    expect(changed).toMatchObject({
      name: 'Ada',
      username,
      image: 'https://example.com/a.png',
      metadata: { a: { b: 1 } },
    });
    const cleared = await api.send('PATCH', '/me', {
      ...api.as(own),
      body: { name: null, image: null, metadata: {} },
    });
    expect(cleared).toMatchObject({ name: null, image: null, metadata: {}, username });
    const events = await server.db.sql<{ data: { fields: string[] } }[]>`
      select data from auth.outbox where type = 'user.updated' and subject = ${own.user.id} order by seq`;
    expect(events.map(({ data }) => data.fields)).toEqual([
      ['username', 'image', 'metadata'],
      ['name', 'image', 'metadata'],
    ]);
  });

  it('may send back what was read', async () => {
    const own = await api.signedIn({}, { name: 'Ada' });
    expect(await api.send('PATCH', '/me', { ...api.as(own), body: own.user })).toEqual(own.user);
  });

  it.each([
    ['email', { email: 'other@example.com' }],
    ['username', { username: 'a' }],
    ['username', { username: 'a b c' }],
    ['name', { name: 'a\u0000b' }],
    ['name', { name: 'x'.repeat(129) }],
    ['image', { image: `https://example.com/${'x'.repeat(2_048)}` }],
    ['metadata', { metadata: { a: { b: { c: { d: { e: {} } } } } } }],
    ['metadata', { metadata: { a: 'x'.repeat(17_000) } }],
    ['nickname', { nickname: 'Ada' }],
  ])('400 names %s', async (field, body) => {
    const own = await api.signedIn();
    const [status, error] = await api.refusal('PATCH', '/me', { ...api.as(own), body });
    expect([status, error.includes(field)]).toEqual([400, true]);
    expect(await api.send('GET', '/me', api.as(own))).toEqual(own.user);
  });

  it('409 where somebody has the name already, whatever the case; one of many at once gets it', async () => {
    const username = `Ada-${newSlug()}`;
    const users = await Promise.all(Array.from({ length: 8 }, () => api.signedIn()));
    const answers = await Promise.all(
      users.map((own, at) =>
        server.request('PATCH', me, {
          ...api.as(own),
          body: { username: at % 2 === 0 ? username : username.toLowerCase() },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array<number>(7).fill(409)]);
  });
});

describe('the end of the own account', () => {
  it('ends all sessions, and frees the address', async () => {
    const own = await api.signedIn();
    const other = await api.again(own);
    await api.isIn(other);
    expect(await api.send('DELETE', '/me', api.as(own))).toEqual({ status: 'account_deleted' });
    expect([await api.isIn(own), await api.isIn(other)]).toEqual([false, false]);
    expect(await api.refusal('GET', `/users/${own.user.id}`)).toEqual([404, 'user not found']);
    await api.user({ email: own.user.email });
  });

  it('comes once, however often it is asked for at a time', async () => {
    const own = await api.signedIn();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => server.request('DELETE', me, api.as(own))),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.every((status) => [200, 401, 404].includes(status))).toBe(true);
  });
});

describe('the active organization', () => {
  it('is one that the user is a member of, and its roles count in it from then on', async () => {
    const own = await api.signedIn();
    const org = await api.organization({ [own.user.id]: 'member' });
    const role = await api.role();
    await api.send('POST', `/roles/${role.id}/permissions`, { body: { resource: 'auth', action: 'read' } });
    await api.send('POST', `/roles/${role.id}/assign`, { body: { user_id: own.user.id, org_id: org } });
    const mayRead = async () =>
      (await server.request('GET', `/auth/v1/auth/organizations/${org}/invitations`, api.as(own))).status ===
      200;
    expect(await mayRead()).toBe(false);
    expect(await api.send('POST', '/me/switch-org', { ...api.as(own), body: { org_id: org } })).toMatchObject(
      {
        id: own.session_id,
        org_id: org,
        current: true,
      },
    );
    expect(await mayRead()).toBe(true);
    expect(await api.send('POST', '/me/switch-org', { ...api.as(own), body: {} })).toMatchObject({
      org_id: null,
    });
    expect(await mayRead()).toBe(false);
  });

  it('404 for one of others, of another app, and for none at all, in the same words', async () => {
    const own = await api.signedIn();
    const app = await otherApp(server, 'default');
    const others = [
      await api.organization(),
      await api.organization({ [own.user.id]: 'member' }, { app }),
      'org_01m7w6qgepfq9s8v9m3zmg852m',
    ];
    for (const org_id of others)
      expect(await api.refusal('POST', '/me/switch-org', { ...api.as(own), body: { org_id } })).toEqual([
        404,
        'organization not found',
      ]);
  });
});

it('an export holds what is kept of the user, and nothing of others', async () => {
  const own = await api.signedIn({}, { name: 'Ada' });
  await api.signedIn();
  const device = await api.onDevice(own);
  const org = await api.organization({ [own.user.id]: 'owner' });
  await api.give(own.user, {}, ['docs:read']);
  await server.db.sql`
    insert into auth.enrollments (id, tenant_id, user_id, method, verified, phone)
    values ('mfa_01m7w6qgepfq9s8v8ayr0n9f4y', 'default', ${own.user.id}, 'sms', true, '+4930901820')`;
  const data = (await api.send('GET', '/me/export', api.as(own))) as PersonalData;
  expect(data).toMatchObject({
    user: own.user,
    sessions: [{ id: own.session_id, current: true, device_id: device.id }],
    devices: [{ id: device.id }],
    organizations: [{ id: org, member_count: 1 }],
    mfa_enrollments: [{ method: 'sms', verified: true, phone: '+49*****1820' }],
    consents: [],
  });
  expect(data.roles).toHaveLength(2);
  expect(data.devices).toHaveLength(1);
});

it('uses of sessions and devices are noted, when the server stops at the latest', async () => {
  const own = await api.signedIn();
  const device = await api.onDevice(own);
  await server.db
    .sql`update auth.sessions set last_active_at = now() - interval '1 day' where id = ${own.session_id}`;
  await server.db
    .sql`update auth.devices set last_seen_at = now() - interval '1 day' where id = ${device.id}`;
  await api.isIn(own);
  await server.restart();
  const [noted] = await server.db.sql<{ session: boolean; device: boolean }[]>`
    select
      sessions.last_active_at > now() - interval '10 minutes' as session,
      devices.last_seen_at > now() - interval '10 minutes' as device
    from auth.sessions join auth.devices on devices.id = sessions.device_id
    where sessions.id = ${own.session_id}`;
  expect(noted).toEqual({ session: true, device: true });
});
