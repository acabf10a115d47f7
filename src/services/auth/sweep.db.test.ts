import { afterAll, beforeAll, expect, it } from 'vitest';
import { pruneOnce } from '../../db/outbox-pruning.ts';
import { runSweep } from '../../db/sweeps.ts';
import { newId } from '../../lib/ids.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { isDelivered } from './webhooks/deliveries.store.ts';
import { remainsSweep } from './sweep.ts';
import { newPhone, tools } from './testing/index.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = tools(server);
});
afterAll(() => server.close());

const sweep = ({ batch }: { batch?: number } = {}) => {
  const declared = remainsSweep(server.db);
  return runSweep({ ...declared, batch: batch ?? declared.batch });
};
const refresh = (refresh_token: string) =>
  api.send('POST', '/refresh', { token: null, body: { refresh_token } });
const sessionsOf = (userId: string) => server.db.sql`
  select revoked_at is not null as ended, num_nonnulls(token_hash, refresh_hash, retry_key, retry_box) as secrets,
    (select count(*)::int from auth.spent_refresh where session_id = sessions.id) as spent
  from auth.sessions where user_id = ${userId}`;
/** Sets the end of the user's sessions to `days` days ago. */
const endedBefore = (userId: string, days: number) =>
  server.db.sql`
    update auth.sessions
    set refresh_expires_at = now() - ${days} * interval '1 day',
      revoked_at = case when revoked_at is not null then now() - ${days} * interval '1 day' end
    where user_id = ${userId}`;

/** A session that was refreshed this many times, and is still live. */
async function refreshed(times: number) {
  const { user, ...tokens } = await api.signUp();
  let { refresh_token } = tokens;
  for (let time = 0; time < times; time += 1) ({ refresh_token } = await refresh(refresh_token));
  return { user, refresh_token };
}

it('leaves sessions that go on alone, with the tokens that they spent', async () => {
  const { user, refresh_token } = await refreshed(2);
  await sweep();
  expect(await sessionsOf(user.id)).toEqual([{ ended: false, secrets: 2, spent: 2 }]);
  await refresh(refresh_token);
});

it('takes what is secret from a session that expired, and keeps it for 30 days', async () => {
  const { user } = await refreshed(3);
  await endedBefore(user.id, 29);
  await sweep({ batch: 2 });
  expect(await sessionsOf(user.id)).toMatchObject([{ ended: true, secrets: 0 }]);
  await endedBefore(user.id, 31);
  await sweep();
  expect(await sessionsOf(user.id)).toEqual([]);
  expect(
    await server.db.sql`
      select from auth.spent_refresh where session_id not in (select id from auth.sessions)`,
  ).toEqual([]);
});

it('forgets the tokens that a session spent once it has ended', async () => {
  const { user, refresh_token } = await refreshed(5);
  await api.send('POST', `/users/${user.id}/signout-all`);
  await sweep({ batch: 2 });
  expect(await sessionsOf(user.id)).toEqual([{ ended: true, secrets: 0, spent: 0 }]);
  expect((await api.refusal('POST', '/refresh', { token: null, body: { refresh_token } }))[0]).toBe(401);
});

it('deletes failures, tokens, challenges, unverified factors, counts of texts, messages and what OAuth kept or was to tell when they are over', async () => {
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
  await sql`
    insert into auth.logouts (tenant_id, client_id, sid, user_id)
    values ('default', 'client_gone', 'one', ${user.id}), ('default', 'client_gone', 'two', ${user.id})`;
  await sql`insert into auth.device_tries (network, tries) values (${Buffer.alloc(32, 1)}, 3)`;
  const tables = [
    ['throttles', 'last_at', '1 hour'],
    ['one_time', 'expires_at', '0'],
    ['challenges', 'expires_at', '0'],
    ['enrollments', 'created_at', '1 hour'],
    ['quotas', 'ends_at', '0'],
    ['messages', 'created_at', '7 days'],
    ['oidc', 'expires_at', '0'],
    ['logouts', 'created_at', '3 days'],
    ['device_tries', 'since', '10 minutes'],
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
  await sweep();
  expect(await counts()).toEqual(before);
  await age('-1 second');
  await sweep({ batch: 1 });
  expect(await counts()).toEqual(tables.map(() => 0));
});

it('drops events after a week, unless a delivery is kept that an erasure finds through them', async () => {
  const { user } = await api.signUp();
  const { sql } = server.db;
  const webhook = newId('whk');
  await sql`
    insert into auth.webhooks (id, tenant_id, app_id, url, events, secret_box)
    values (${webhook}, 'default', 'default', 'https://example.com', '{*}', ${Buffer.alloc(1)})`;
  await sql`
    insert into auth.deliveries (id, tenant_id, webhook_id, event_id, event, body, state)
    select ${newId('whd')}, 'default', ${webhook}, id, type, '{}', 'delivered'
    from auth.outbox where data ->> 'user_id' = ${user.id} and type = 'user.created'`;
  const eventsOf = async () => {
    const rows = await sql`select type from auth.outbox where data ->> 'user_id' = ${user.id} order by seq`;
    return rows.map(({ type }) => type);
  };
  const all = await eventsOf();
  expect(all.length).toBeGreaterThan(1);
  const prune = () => pruneOnce({ db: server.db, service: 'auth', needed: isDelivered });
  await prune();
  expect(await eventsOf()).toEqual(all);
  await sql`update auth.outbox set time = now() - interval '8 days'`;
  await prune();
  expect(await eventsOf()).toEqual(['user.created']);
});
