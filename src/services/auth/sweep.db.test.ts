import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { sweep } from './sweep.ts';
import { newPhone, tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = tools(server);
});
afterAll(() => server.close());

const refresh = (refresh_token: string) =>
  api.send('POST', '/refresh', { token: null, body: { refresh_token } });
const sessionsOf = (userId: string) => server.db.sql`
  select revoked_at is not null as ended, num_nonnulls(token_hash, refresh_hash, retry_key, retry_box) as secrets,
    (select count(*)::int from auth.spent_refresh where session_id = sessions.id) as spent
  from auth.sessions where user_id = ${userId}`;
/** As if the user's sessions had ended so long ago. */
const endedBefore = (userId: string, days: number) =>
  server.db.sql`
    update auth.sessions
    set refresh_expires_at = now() - ${days} * interval '1 day',
      revoked_at = case when revoked_at is not null then now() - ${days} * interval '1 day' end
    where user_id = ${userId}`;

/** A session that was refreshed so often, and still goes on. */
async function refreshed(times: number) {
  const { user, ...tokens } = await api.signUp();
  let { refresh_token } = tokens;
  for (let time = 0; time < times; time += 1) ({ refresh_token } = await refresh(refresh_token));
  return { user, refresh_token };
}

it('leaves sessions that go on alone, with the tokens that they spent', async () => {
  const { user, refresh_token } = await refreshed(2);
  await sweep(server.db);
  expect(await sessionsOf(user.id)).toEqual([{ ended: false, secrets: 2, spent: 2 }]);
  await refresh(refresh_token);
});

it('takes what is secret from a session that expired, and keeps it for 30 days', async () => {
  const { user } = await refreshed(3);
  await endedBefore(user.id, 29);
  await sweep(server.db, { batch: 2 });
  expect(await sessionsOf(user.id)).toMatchObject([{ ended: true, secrets: 0 }]);
  await endedBefore(user.id, 31);
  await sweep(server.db);
  expect(await sessionsOf(user.id)).toEqual([]);
  expect(
    await server.db.sql`
      select from auth.spent_refresh where session_id not in (select id from auth.sessions)`,
  ).toEqual([]);
});

it('forgets the tokens that a session spent once it has ended', async () => {
  const { user, refresh_token } = await refreshed(5);
  await api.send('POST', `/users/${user.id}/signout-all`);
  await sweep(server.db, { batch: 2 });
  expect(await sessionsOf(user.id)).toEqual([{ ended: true, secrets: 0, spent: 0 }]);
  expect((await api.refusal('POST', '/refresh', { token: null, body: { refresh_token } }))[0]).toBe(401);
});

it('deletes failures, tokens, challenges, unverified factors, counts of texts, messages and what OAuth kept when they are over', async () => {
  const { user, session_token } = await api.signUp();
  const phone = newPhone();
  await api.send('POST', '/mfa/enroll', { token: session_token, body: { method: 'sms', phone } });
  await api.refusal('POST', '/signin', {
    token: null,
    body: { email: user.email, password: 'wrong', app_id: 'default' },
  });
  const { sql } = server.db;
  await sql`
    insert into auth.challenges (tenant_id, hash, app_id, user_id, method, expires_at)
    values ('default', ${Buffer.alloc(32, 1)}, 'default', ${user.id}, 'password', now() + interval '5 minutes')`;
  await sql`
    insert into auth.oidc (model, id_hash, payload, expires_at)
    values ('Interaction', ${Buffer.alloc(32, 1)}, ${{}}::jsonb, now() + interval '5 minutes'),
      ('Interaction', ${Buffer.alloc(32, 2)}, ${{}}::jsonb, now() + interval '5 minutes')`;
  const tables = [
    ['throttles', 'last_at', '1 hour'],
    ['one_time', 'expires_at', '0'],
    ['challenges', 'expires_at', '0'],
    ['enrollments', 'created_at', '1 hour'],
    ['text_sends', 'updated_at', '1 day'],
    ['messages', 'created_at', '7 days'],
    ['oidc', 'expires_at', '0'],
  ] as const;
  const counts = async () => {
    const rows = tables.map(
      ([table]) => sql<{ count: number }[]>`select count(*)::int as count from ${sql(`auth.${table}`)}`,
    );
    return (await Promise.all(rows)).map(([row]) => row!.count);
  };
  const age = async (early: string) => {
    for (const [table, column, after] of tables)
      await sql`
        update ${sql(`auth.${table}`)}
        set ${sql(column)} = now() - ${after}::interval + ${early}::interval
        where ${sql(column)} is not null`;
  };
  await age('1 minute');
  const before = await counts();
  expect(before.every((count) => count > 0)).toBe(true);
  await sweep(server.db);
  expect(await counts()).toEqual(before);
  await age('-1 second');
  await sweep(server.db, { batch: 1 });
  expect(await counts()).toEqual(tables.map(() => 0));
});
