import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device, Session } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { otherApp } from '../testing/index.ts';
import { sessionTools } from '../testing/sessions.ts';

const absentSession = 'sess_01m7w6qgepfq9s8v7rn9y20ca2';
const absentDevice = 'dev_01m7w6qgepfq9s8v83scn695fe';

let server: TestServer;
let api: ReturnType<typeof sessionTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = sessionTools(server);
});
afterAll(() => server.close());

const list = async (token: string): Promise<Session[]> =>
  (await api.send('GET', '/sessions', { token })).sessions;
const idsOf = (found: readonly { id: string }[]) => found.map(({ id }) => id);

describe('the list of sessions', () => {
  it('shows all members, the newest first, and which one asks', async () => {
    const first = await api.signedIn();
    const second = await api.again(first);
    await server.db
      .sql`update auth.sessions set created_at = created_at - interval '1 hour' where id = ${first.session_id}`;
    const found = await list(first.session_token);
    expect(idsOf(found)).toEqual([second.session_id, first.session_id]);
    expect(found[1]).toEqual({
      id: first.session_id,
      app_id: 'default',
      user_id: first.user.id,
      org_id: null,
      kind: 'api',
      ip_address: '203.0.113.77',
      user_agent: 'Test browser',
      device_id: null,
      impersonated_by: null,
      current: true,
      last_active_at: expect.any(String),
      expires_at: expect.any(String),
      refresh_expires_at: expect.any(String),
      created_at: expect.any(String),
    });
    expect(found[0]!.current).toBe(false);
  });

  it('has stale ones, and neither ended nor revoked ones nor impersonations', async () => {
    const own = await api.signedIn();
    const [stale, over, revoked] = [await api.again(own), await api.again(own), await api.again(own)];
    await api.impersonating(own);
    await server.db
      .sql`update auth.sessions set expires_at = now() - interval '1 minute' where id = ${stale.session_id}`;
    await server.db.sql`
      update auth.sessions set expires_at = now() - interval '1 hour', refresh_expires_at = now() - interval '1 minute'
      where id = ${over.session_id}`;
    await api.send('DELETE', `/sessions/${revoked.session_id}`, api.as(own));
    expect(idsOf(await list(own.session_token)).toSorted()).toEqual(
      [own.session_id, stale.session_id].toSorted(),
    );
  });

  it('is what root sees for the user whom it names', async () => {
    const own = await api.signedIn();
    const { sessions } = await api.send('GET', '/sessions', { headers: { 'X-User-ID': own.user.id } });
    expect(sessions).toMatchObject([{ id: own.session_id, current: false }]);
  });
});

describe('two browsers of one account', () => {
  it('see at once what one does to the sessions of the other', async () => {
    const one = await api.signedIn();
    const other = await api.again(one);
    expect(await api.isIn(other)).toBe(true);
    expect(await api.send('DELETE', `/sessions/${other.session_id}`, api.as(one))).toEqual({
      status: 'revoked',
    });
    expect(await api.isIn(other)).toBe(false);
    expect(idsOf(await list(one.session_token))).toEqual([one.session_id]);
    // A repeat changes nothing.
    expect(await api.send('DELETE', `/sessions/${other.session_id}`, api.as(one))).toEqual({
      status: 'revoked',
    });
  });

  it('end each other once, however often at a time it is asked', async () => {
    const one = await api.signedIn();
    const others = await Promise.all(Array.from({ length: 5 }, () => api.again(one)));
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api.send('POST', '/sessions/revoke-others', api.as(one))),
    );
    expect(answers.reduce((sum, { count }) => sum + count, 0)).toBe(others.length);
    expect(await Promise.all(others.map((other) => api.isIn(other)))).toEqual(others.map(() => false));
    expect(await api.isIn(one)).toBe(true);
    const events = await server.db.sql<{ data: { session_id: string; reason: string } }[]>`
      select data from auth.outbox where type = 'auth.session.revoked' and data ->> 'user_id' = ${one.user.id}`;
    expect(events.map(({ data }) => data.session_id).toSorted()).toEqual(
      others.map(({ session_id }) => session_id).toSorted(),
    );
  });

  it('see at once what one does to devices', async () => {
    const one = await api.signedIn();
    const other = await api.again(one);
    const device = await api.onDevice(other);
    expect(await api.isIn(other)).toBe(true);
    expect(await api.send('DELETE', `/devices/${device.id}`, api.as(one))).toEqual({ status: 'deleted' });
    expect(await api.isIn(other)).toBe(false);
    expect((await api.send('GET', '/devices', api.as(one))).devices).toEqual([]);
    expect(await api.refusal('DELETE', `/devices/${device.id}`, api.as(one))).toEqual([
      404,
      'device not found',
    ]);
  });
});

describe('a session ends', () => {
  it('by its own hand too', async () => {
    const own = await api.signedIn();
    await api.send('DELETE', `/sessions/${own.session_id}`, api.as(own));
    expect(await api.isIn(own)).toBe(false);
  });

  it('together with the impersonations that it began', async () => {
    const admin = await api.signedIn();
    await api.give(admin.user, {}, ['*']);
    const target = await api.signedIn();
    const { session_token } = await api.send('POST', '/admin/impersonate', {
      ...api.as(admin),
      body: { target_user_id: target.user.id },
    });
    expect(await api.isIn({ session_token })).toBe(true);
    await api.send('DELETE', `/sessions/${admin.session_id}`, api.as(admin));
    expect([await api.isIn({ session_token }), await api.isIn(target)]).toEqual([false, true]);
  });
});

describe('a device', () => {
  it('is shown with all members, the one seen last first', async () => {
    const own = await api.signedIn();
    const [first, second] = [await api.onDevice(own), await api.onDevice(own)];
    await server.db
      .sql`update auth.devices set last_seen_at = now() + interval '1 hour' where id = ${first.id}`;
    const { devices } = (await api.send('GET', '/devices', api.as(own))) as { devices: Device[] };
    expect(idsOf(devices)).toEqual([first.id, second.id]);
    expect(await api.send('GET', `/devices/${second.id}`, api.as(own))).toEqual({
      id: second.id,
      name: 'Firefox on Linux',
      type: 'desktop',
      browser: 'Firefox',
      os: 'Linux',
      ip_address: '203.0.113.7',
      trusted: false,
      trusted_until: null,
      last_seen_at: expect.any(String),
      created_at: expect.any(String),
    });
  });

  it('is trusted for 30 days, or until it is not', async () => {
    const own = await api.signedIn();
    const { id } = await api.onDevice(own);
    const trusted = (await api.send('PATCH', `/devices/${id}/trust`, api.as(own))) as Device;
    expect(trusted.trusted).toBe(true);
    const days = (Date.parse(trusted.trusted_until!) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThan(30.1);
    await server.db.sql`update auth.devices set trusted_until = now() - interval '1 second' where id = ${id}`;
    expect(await api.send('GET', `/devices/${id}`, api.as(own))).toMatchObject({
      trusted: false,
      trusted_until: null,
    });
    await api.send('PATCH', `/devices/${id}/trust`, api.as(own));
    const untrusted = { trusted: false, trusted_until: null };
    expect(await api.send('DELETE', `/devices/${id}/trust`, api.as(own))).toMatchObject(untrusted);
    expect(await api.send('DELETE', `/devices/${id}/trust`, api.as(own))).toMatchObject(untrusted);
  });

  it('is not trusted by whoever impersonates the user', async () => {
    const own = await api.signedIn();
    const { id } = await api.onDevice(own);
    expect(await api.refusal('PATCH', `/devices/${id}/trust`, await api.impersonating(own))).toEqual([
      403,
      'not allowed while impersonating',
      'impersonated',
    ]);
  });

  it('leaves the session that deletes it', async () => {
    const own = await api.signedIn();
    const { id } = await api.onDevice(own);
    await api.send('DELETE', `/devices/${id}`, api.as(own));
    expect(await list(own.session_token)).toMatchObject([{ id: own.session_id, device_id: null }]);
  });
});

const ofSession = (id: string): [string, string][] => [['DELETE', `/sessions/${id}`]];
const ofDevice = (id: string): [string, string][] => [
  ['GET', `/devices/${id}`],
  ['DELETE', `/devices/${id}`],
  ['PATCH', `/devices/${id}/trust`],
  ['DELETE', `/devices/${id}/trust`],
];

describe('what is not the caller’s own', () => {
  it('answers the same bytes as what does not exist, and stays', async () => {
    const own = await api.signedIn();
    const stranger = await api.signedIn();
    const device = await api.onDevice(stranger);
    const app = await otherApp(server);
    const foreign = await api.signedIn({ app, tenant: app.tenant });
    const pairs = [
      ...ofSession(stranger.session_id).map((call, at) => [call, ofSession(absentSession)[at]!]),
      ...ofSession(foreign.session_id).map((call, at) => [call, ofSession(absentSession)[at]!]),
      ...ofDevice(device.id).map((call, at) => [call, ofDevice(absentDevice)[at]!]),
    ] as [[string, string], [string, string]][];
    for (const [[method, path], [, absent]] of pairs) {
      const found = await server.request(method, `/auth/v1/auth${path}`, api.as(own));
      const missing = await server.request(method, `/auth/v1/auth${absent}`, api.as(own));
      expect([found.status, found.text]).toEqual([404, missing.text]);
    }
    expect([await api.isIn(stranger), await api.isIn(foreign)]).toEqual([true, true]);
    expect((await api.send('GET', '/devices', api.as(stranger))).devices).toHaveLength(1);
  });

  it('is not found for a user whom root names wrongly', async () => {
    const app = await otherApp(server);
    const foreign = await api.signedIn({ app, tenant: app.tenant });
    for (const id of [foreign.user.id, 'nobody', 'user_01m7w6qgepfq9s8v7qdkvzwn91'])
      for (const [method, path] of [
        ['GET', '/sessions'],
        ['GET', '/devices'],
        ['POST', '/sessions/revoke-others'],
      ] as const)
        expect(await api.refusal(method, path, { headers: { 'X-User-ID': id } })).toEqual([
          404,
          'user not found',
        ]);
    expect(await api.isIn(foreign)).toBe(true);
  });

  it.each([
    ...ofSession(absentSession),
    ...ofDevice(absentDevice),
    ['GET', '/sessions'],
    ['GET', '/devices'],
    ['POST', '/sessions/revoke-others'],
  ])('%s %s: 401 without credentials, 403 without a user', async (method, path) => {
    expect((await api.refusal(method, path, { token: null }))[0]).toBe(401);
    expect((await api.refusal(method, path, {}))[0]).toBe(403);
  });

  it.each([
    'nonsense',
    'sess_',
    'dev_01m7w6qgepfq9s8v83scn695fe',
    'sess_%00',
    encodeURIComponent('sess_\ud7ff'),
    'x'.repeat(5_000),
  ])('is no id: %s', async (id) => {
    const own = await api.signedIn();
    expect((await api.refusal('DELETE', `/sessions/${id}`, api.as(own)))[0]).toBe(400);
  });
});
