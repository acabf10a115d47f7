import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { User } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { adminTools } from '../testing/admin.ts';
import { newSlug } from '../testing/index.ts';

let server: TestServer;
let api: ReturnType<typeof adminTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = adminTools(server);
});
afterAll(() => server.close());

const erase = ({ id }: User) => api.send('DELETE', `/users/${id}`);
const membersOf = async (org: string) => {
  const rows = await server.db.sql<{ user_id: string; role: string }[]>`
    select user_id, role from auth.members where org_id = ${org}`;
  return Object.fromEntries(rows.map(({ user_id, role }) => [user_id, role]));
};

/** Returns `table.column: value` for every value in the service's tables that contains one of the texts. */
async function occurrences(texts: readonly string[]): Promise<string[]> {
  const { sql } = server.db;
  const columns = await sql<{ table: string; column: string }[]>`
    select table_name as table, column_name as column
    from information_schema.columns
    where table_schema = 'auth' and data_type in ('text', 'jsonb', 'json', 'character varying', 'ARRAY')`;
  expect(columns.length).toBeGreaterThan(100);
  const found: string[] = [];
  for (const { table, column } of columns) {
    const rows = await sql`
      select ${sql(column)}::text as held from ${sql(`auth.${table}`)}
      where exists (
        select from unnest(${[...texts]}::text[]) as text
        where strpos(lower(${sql(column)}::text), lower(text)) > 0
      )`;
    for (const { held } of rows) found.push(`${table}.${column}: ${held}`);
  }
  return found;
}

it('leaves nothing of the user in any column, and keeps that they were there', async () => {
  const { sql } = server.db;
  const email = 'grace.hopper@navy.example';
  const phone = '+4930901820';
  const { user, session_id } = await api.signedIn(
    {},
    { email, phone, name: 'Grace Hopper', metadata: { nick: 'Amazing Grace' } },
  );
  const { id } = user;
  const other = await api.user();
  const org = await api.organization({ [id]: 'owner', [other.id]: 'member' });
  await api.send('PATCH', `/users/${id}`, { body: { name: 'Admiral Hopper' } });
  await api.send('POST', `/users/${id}/ban`, { body: { reason: 'Grace Hopper asked for it' } });
  await api.signIn(user);

  // Rows that other operations would have written.
  const device = newId('dev');
  await sql`update auth.sessions set device_id = ${device} where id = ${session_id}`;
  await sql`
    insert into auth.devices (id, tenant_id, user_id, name, type, user_agent, ip_address, token_hash)
    values (${device}, 'default', ${id}, 'Phone', 'mobile', 'Test browser', '203.0.113.77', ${Buffer.from(id)})`;
  await sql`
    insert into auth.spent_refresh (tenant_id, hash, session_id) values ('default', ${Buffer.from(id)}, ${session_id})`;
  await sql`
    insert into auth.enrollments (id, tenant_id, user_id, method, phone)
    values (${newId('mfa')}, 'default', ${id}, 'sms', ${phone})`;
  await sql`
    insert into auth.messages (id, tenant_id, app_id, channel, recipient, kind, user_id, subject)
    values
      (${newId('msg')}, 'default', 'default', 'email', ${email}, 'reset_password', ${id}, ${`Dear ${email}`}),
      (${newId('msg')}, 'default', 'default', 'sms', ${phone}, 'phone_code', null, 'Code for Grace Hopper')`;
  await sql`
    insert into auth.one_time (tenant_id, app_id, purpose, subject, hash, expires_at)
    values
      ('default', 'default', 'reset_password', ${id}, ${Buffer.alloc(32)}, now() + interval '1 hour'),
      ('default', 'default', 'phone_signin', ${phone}, ${Buffer.alloc(32)}, now() + interval '1 hour')`;
  await sql`
    insert into auth.requests (id, tenant_id, app_id, kind, email)
    values (${newId('req')}, 'default', 'default', 'reset_password', ${email})`;
  await sql`
    insert into auth.invitations (id, tenant_id, org_id, email, role, invited_by, token_hash, expires_at)
    values
      (${newId('inv')}, 'default', ${org}, ${email}, 'member', null, ${Buffer.from('a')}, now()),
      (${newId('inv')}, 'default', ${org}, 'else@example.com', 'member', ${id}, ${Buffer.from('b')}, now())`;
  await sql`
    insert into auth.oidc (model, id_hash, payload, user_id, tenant_id)
    values ('Session', ${Buffer.from(id)}, ${{ email, ip: '203.0.113.77' }}, ${id}, 'default')`;
  const webhook = newId('whk');
  await sql`
    insert into auth.webhooks (id, tenant_id, app_id, url, events, secret_box)
    values (${webhook}, 'default', 'default', 'https://example.com', '{*}', ${Buffer.alloc(1)})`;
  await sql`
    insert into auth.deliveries (id, tenant_id, webhook_id, event_id, event, body)
    select ${newId('whd')}, 'default', ${webhook}, id, type, jsonb_build_object('id', id, 'data', data)::text
    from auth.outbox where subject = ${id} and type = 'user.created'`;
  // The user impersonates somebody: that session holds the user's IP address.
  await sql`
    insert into auth.sessions (
      id, tenant_id, app_id, user_id, kind, ip_address, impersonated_by, expires_at, refresh_expires_at
    )
    values (
      ${newId('sess')}, 'default', 'default', ${other.id}, 'impersonation', '203.0.113.77', ${id},
      now() + interval '1 hour', now() + interval '1 hour'
    )`;

  const personal = [email, phone, 'Hopper', 'Amazing Grace', '203.0.113.77'];
  expect((await occurrences(personal)).length).toBeGreaterThan(10);
  expect(await erase(user)).toEqual({ status: 'deleted' });
  expect(await occurrences(personal)).toEqual([]);

  const kept = await occurrences([id]);
  expect(new Set(kept.map((line) => line.split('.')[0]))).toEqual(
    new Set(['erased', 'outbox', 'deliveries', 'changes']),
  );
  const [last] =
    await sql`select type, data from auth.outbox where subject = ${id} order by seq desc limit 1`;
  expect(last).toEqual({ type: 'user.deleted', data: { app_id: 'default', user_id: id } });
  const [told] =
    await sql`select body::jsonb -> 'data' as data from auth.deliveries where webhook_id = ${webhook} and event = 'user.created'`;
  expect(told!.data).toEqual({ app_id: 'default', user_id: id });
  expect(await membersOf(org)).toEqual({ [other.id]: 'owner' });
});

it('frees the address at once and ends every session', async () => {
  const { user, session_token: token } = await api.signedIn();
  await erase(user);
  expect((await server.request('GET', '/auth/v1/auth/roles', { token })).status).toBe(401);
  expect(await api.refusal('GET', `/users/${user.id}`)).toEqual([404, 'user not found']);
  expect(await api.refusal('DELETE', `/users/${user.id}`)).toEqual([404, 'user not found']);
  expect((await api.user({ email: user.email })).id).not.toBe(user.id);
});

it('twenty at once: one erases, the others find nothing', async () => {
  const user = await api.user();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => api.refusal('DELETE', `/users/${user.id}`)),
  );
  expect(answers.filter(([status]) => status === 200)).toHaveLength(1);
  expect(answers.filter(([status]) => status === 404)).toHaveLength(19);
  expect(
    await server.db.sql`select from auth.outbox where subject = ${user.id} and type = 'user.deleted'`,
  ).toHaveLength(1);
});

describe('organizations of an erased user', () => {
  const people = async (count: number) => Promise.all(Array.from({ length: count }, () => api.user()));

  it('go with them where they are alone', async () => {
    const [user] = await people(1);
    const org = await api.organization({ [user!.id]: 'owner' });
    await erase(user!);
    expect(await server.db.sql`select from auth.organizations where id = ${org}`).toHaveLength(0);
  });

  it('pass to the oldest admin, else to the oldest member', async () => {
    const [owner, member, admin, younger] = await people(4);
    const org = await api.organization({
      [owner!.id]: 'owner',
      [member!.id]: 'member',
      [younger!.id]: 'admin',
    });
    await server.db.sql`
      insert into auth.members (id, tenant_id, org_id, user_id, role, created_at)
      values (${newId('mem')}, 'default', ${org}, ${admin!.id}, 'admin', now() - interval '1 day')`;
    await server.db.sql`update auth.organizations set member_count = 4 where id = ${org}`;
    await erase(owner!);
    expect(await membersOf(org)).toEqual({
      [admin!.id]: 'owner',
      [member!.id]: 'member',
      [younger!.id]: 'admin',
    });
    await erase(younger!);
    await erase(admin!);
    expect(await membersOf(org)).toEqual({ [member!.id]: 'owner' });
    const [{ member_count }] = await server.db.sql<[{ member_count: number }]>`
      select member_count from auth.organizations where id = ${org}`;
    expect(member_count).toBe(1);
  });

  it('stay with the owner who is left', async () => {
    const [one, two, admin] = await people(3);
    const org = await api.organization({ [one!.id]: 'owner', [two!.id]: 'owner', [admin!.id]: 'admin' });
    await erase(one!);
    expect(await membersOf(org)).toEqual({ [two!.id]: 'owner', [admin!.id]: 'admin' });
  });

  it('of two owners at once, somebody owns it in the end', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, two, member] = await people(3);
      const org = await api.organization({ [one!.id]: 'owner', [two!.id]: 'owner', [member!.id]: 'member' });
      await Promise.all([erase(one!), erase(two!)]);
      expect(await membersOf(org)).toEqual({ [member!.id]: 'owner' });
    }
  });

  it('their teams count one less', async () => {
    const [owner, user] = await people(2);
    const org = await api.organization({ [owner!.id]: 'owner', [user!.id]: 'member' });
    const team = newId('team');
    await server.db.sql`
      insert into auth.teams (id, tenant_id, org_id, name, slug, member_count)
      values (${team}, 'default', ${org}, 'Team', ${newSlug()}, 1)`;
    await server.db.sql`
      insert into auth.team_members (id, tenant_id, team_id, user_id)
      values (${newId('tmem')}, 'default', ${team}, ${user!.id})`;
    await erase(user!);
    const [{ member_count }] = await server.db.sql<[{ member_count: number }]>`
      select member_count from auth.teams where id = ${team}`;
    expect(member_count).toBe(0);
  });
});
