import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { runSweep } from '../../../db/sweeps.ts';
import { appRemoval } from './app-removal.ts';
import { adminTools } from '../testing/admin.ts';
import { newSlug } from '../testing/index.ts';

const absent = 'app_01m7w6qgepfq9s8v7qdkvzwn91';

let server: TestServer;
let api: ReturnType<typeof adminTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = adminTools(server);
});
afterAll(() => server.close());

describe('create', () => {
  it('answers all members, with the settings that are absent as the contract says', async () => {
    const slug = newSlug();
    const app = await api.app({ name: ' Shop ', slug, settings: { session_ttl: '90m', max_sessions: 3 } });
    expect(app).toEqual({
      id: expect.stringMatching(/^app_/),
      name: 'Shop',
      slug,
      is_default: false,
      publishable_keys: [
        { key: expect.stringMatching(/^pk_[0-9A-Za-z]{22}$/), created_at: expect.stringMatching(/Z$/) },
      ],
      settings: {
        signup_enabled: true,
        require_verified_email: false,
        password_min_length: 8,
        session_ttl: '1h30m',
        refresh_ttl: '720h',
        max_sessions: 3,
        mfa_trusted_devices: false,
        default_role: 'user',
        allowed_origins: [],
        home_url: null,
        links: { reset_password: null, verify_email: null, invitation: null },
        mail_from: null,
      },
      created_at: expect.any(String),
      updated_at: app.created_at,
    });
    expect(await api.send('GET', `/apps/${app.id}`)).toEqual(app);
    const { roles } = await api.send('GET', `/roles?app_id=${app.id}`);
    expect(roles.map(({ slug }: { slug: string }) => slug).sort()).toEqual(['admin', 'user']);
  });

  it.each<[string, object]>([
    ['name', { name: '\t' }],
    ['slug', { slug: 'No Slug' }],
    ['settings.session_ttl', { settings: { session_ttl: '59s' } }],
    ['settings.refresh_ttl', { settings: { refresh_ttl: '2161h' } }],
    ['settings.password_min_length', { settings: { password_min_length: 7 } }],
    ['settings.max_sessions', { settings: { max_sessions: 101 } }],
    ['settings.default_role', { settings: { default_role: 'nothing' } }],
    ['settings.allowed_origins[0]', { settings: { allowed_origins: ['https://a@b.example'] } }],
    ['settings.mail_from', { settings: { mail_from: 'a\r\nBcc: b' } }],
    ['settings.colour', { settings: { colour: 'red' } }],
    ['nmae', { nmae: 'x' }],
  ])('400 names %s: %j', async (field, body) => {
    const slug = newSlug();
    const refused = await api.refusal('POST', '/apps', { body: { name: 'App', slug, ...body } });
    expect(refused).toEqual([400, expect.stringContaining(field)]);
    expect(await server.db.sql`select from auth.apps where slug = ${slug}`).toHaveLength(0);
  });

  it('the first app of a tenant is its default, also of twenty at once; slugs are its own', async () => {
    const tenant = newSlug();
    const apps = await Promise.all(
      Array.from({ length: 20 }, (_, n) => api.app({ slug: `app${n}` }, { tenant })),
    );
    expect(apps.filter(({ is_default }) => is_default)).toHaveLength(1);
    const taken = await api.refusal('POST', '/apps', { tenant, body: { name: 'App', slug: 'app0' } });
    expect(taken).toEqual([409, 'slug already taken']);
    const other = await api.app({ slug: 'app0' }, { tenant: newSlug() });
    expect(other.is_default).toBe(true);
    const role = await api.role({}, { tenant });
    expect(role.app_id).toBe(apps.find(({ is_default }) => is_default)!.id);
  });
});

describe('list', () => {
  it('answers the apps of the tenant, newest first, page by page', async () => {
    const tenant = newSlug();
    const made: string[] = [];
    for (const _ of [1, 2, 3]) made.unshift((await api.app({}, { tenant })).id);
    const ids = (body: { apps: App[] }) => body.apps.map(({ id }) => id);
    const first = await server.request('GET', '/auth/v1/auth/apps?limit=2', { tenant });
    const cursor = first.headers.get('x-next-cursor');
    expect(ids(first.body)).toEqual(made.slice(0, 2));
    expect(ids(await api.send('GET', `/apps?limit=2&cursor=${cursor}`, { tenant }))).toEqual(made.slice(2));
  });
});

describe('update', () => {
  it('merges settings; what was read can be written back', async () => {
    const app = await api.app({ settings: { max_sessions: 5 } });
    const update = (body: object): Promise<App> => api.send('PATCH', `/apps/${app.id}`, { body });
    expect(await update(app)).toEqual(app);
    expect((await update({ settings: { signup_enabled: false } })).settings).toEqual({
      ...app.settings,
      signup_enabled: false,
    });
    const origins = ['https://App.example.com', 'https://app.example.com:443'];
    const links = { reset_password: 'https://app.example.com/{token}', verify_email: null, invitation: null };
    const changed = await update({ name: 'New', settings: { allowed_origins: origins, links } });
    expect(changed).toMatchObject({
      name: 'New',
      settings: {
        allowed_origins: ['https://app.example.com'],
        links,
        max_sessions: 5,
        signup_enabled: false,
      },
    });
    const [event] = await server.db.sql`
      select data from auth.outbox where subject = ${app.id} order by seq desc limit 1`;
    expect(event!.data.fields).toEqual(['name', 'settings.allowed_origins', 'settings.links']);
    expect(await api.refusal('PATCH', `/apps/${app.id}`, { body: { slug: 'other' } })).toEqual([
      400,
      'slug: cannot be changed',
    ]);
  });

  it('holds for new users at once', async () => {
    const app = await api.app();
    const role = await api.role({ app_id: app.id });
    await api.send('PATCH', `/apps/${app.id}`, {
      body: { settings: { default_role: role.slug, password_min_length: 20 } },
    });
    const user = await api.user({ app_id: app.id });
    const { roles } = await api.send('GET', `/users/${user.id}/roles`, api.at({ app }));
    expect(roles.map(({ slug }: { slug: string }) => slug)).toEqual([role.slug]);
    const weak = { app_id: app.id, email: 'a@example.com', password: 'nineteen characters' };
    expect(await api.refusal('POST', '/users', { body: weak })).toEqual([
      400,
      'password: must have at least 20 characters',
      'weak_password',
    ]);
  });
});

describe('publishable keys', () => {
  it('come and go; one stays, and there are at most 10', async () => {
    const app = await api.app();
    const path = `/apps/${app.id}/publishable-keys`;
    const [first] = app.publishable_keys;
    expect(await api.refusal('DELETE', `${path}/${first!.key}`)).toEqual([
      409,
      'an app keeps one publishable key',
    ]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => server.request('POST', `/auth/v1/auth${path}`)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(9);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(11);
    const full: App = await api.send('GET', `/apps/${app.id}`);
    expect(full.publishable_keys).toHaveLength(10);
    expect(full.publishable_keys[0]).toEqual(first);
    const left: App = await api.send('DELETE', `${path}/${first!.key}`);
    expect(left.publishable_keys).toEqual(full.publishable_keys.slice(1));
    expect(await api.refusal('DELETE', `${path}/${first!.key}`)).toEqual([404, 'publishable key not found']);
    const others = await api.app();
    const foreign = others.publishable_keys[0]!.key;
    expect(await api.refusal('DELETE', `${path}/${foreign}`)).toEqual([404, 'publishable key not found']);
  });

  it('two at once do not take the last two', async () => {
    const app = await api.app();
    const { publishable_keys } = (await api.send('POST', `/apps/${app.id}/publishable-keys`)) as App;
    const answers = await Promise.all(
      publishable_keys.map(({ key }) => api.refusal('DELETE', `/apps/${app.id}/publishable-keys/${key}`)),
    );
    expect(answers.map(([status]) => status).sort()).toEqual([200, 409]);
  });
});

describe('delete', () => {
  it('refuses what the app gave out at once, frees its slug, and removes all of it later', async () => {
    const app = await api.app();
    const { user, session_token: token } = await api.signedIn({ app });
    await api.give(user, { app }, ['auth:*']);
    const get = () => server.request('GET', `/auth/v1/auth/apps/${app.id}`, { token });
    expect((await get()).status).toBe(200);
    expect(await api.send('DELETE', `/apps/${app.id}`)).toEqual({ status: 'deleted' });
    expect((await get()).status).toBe(401);
    expect(await api.refusal('GET', `/apps/${app.id}`)).toEqual([404, 'app not found']);
    expect(await api.refusal('DELETE', `/apps/${app.id}`)).toEqual([404, 'app not found']);
    expect((await api.app({ slug: app.slug })).id).not.toBe(app.id);

    const { sql } = server.db;
    await api.organization({ [user.id]: 'owner' }, { app });
    const client = newId('client');
    await sql`insert into auth.directory (id, tenant_id) values (${client}, 'default')`;
    await sql`
      insert into auth.clients (
        id, tenant_id, app_id, name, redirect_uris, post_logout_redirect_uris, scopes, grant_types, public,
        skip_consent, require_pkce, access_token_ttl, audiences
      )
      values (${client}, 'default', ${app.id}, 'Client', '{}', '{}', '{}', '{}', false, false, false, 60, '{}')`;
    await sql`
      insert into auth.users (id, tenant_id, app_id, username)
      select ${app.id} || n, 'default', ${app.id}, ${app.id} || n from generate_series(1, 1200) n`;
    await runSweep(appRemoval(server.db));
    expect(await sql`select from auth.apps where id = ${app.id}`).toHaveLength(1);
    await sql`update auth.apps set deleted_at = now() - interval '2 minutes' where id = ${app.id}`;
    await runSweep(appRemoval(server.db));
    const left: string[] = [];
    const columns = await sql<{ table: string; column: string }[]>`
      select table_name as table, column_name as column from information_schema.columns
      where table_schema = 'auth' and column_name in ('id', 'app_id', 'user_id', 'client_id', 'subject')
        and table_name not in ('outbox', 'changes')`;
    for (const { table, column } of columns) {
      const rows = await sql`
        select from ${sql(`auth.${table}`)}
        where ${sql(column)} in (${app.id}, ${user.id}, ${client}) or starts_with(${sql(column)}, ${app.id})`;
      if (rows.length > 0) left.push(`${table}.${column}`);
    }
    expect(left).toEqual([]);
  });

  it('409 for the default app', async () => {
    expect(await api.refusal('DELETE', '/apps/default')).toEqual([409, 'the default app cannot be deleted']);
  });
});

it('an app is not deleted over people in it who hold more than the caller', async () => {
  const app = await api.app();
  const [admin, boss] = [await api.signedIn({ app }), await api.signedIn({ app })];
  await api.give(admin.user, { app }, ['auth:*']);
  await api.give(boss.user, { app }, ['keys:write']);
  const path = `/apps/${app.id}`;
  expect(await api.refusal('DELETE', path, { token: admin.session_token })).toEqual([
    403,
    'the app holds keys:write, which the caller does not',
    'grant_exceeds_caller',
  ]);
  await api.give(admin.user, { app }, ['keys:*']);
  expect(await api.refusal('DELETE', path, { token: admin.session_token })).toEqual([200, '']);
});

describe('who may', () => {
  const calls = (id: string, key = 'pk_7Qm2xVt0aLw9RkZc4HdYp1'): [string, string, object?][] => [
    ['GET', `/apps/${id}`],
    ['PATCH', `/apps/${id}`, { name: 'x' }],
    ['POST', `/apps/${id}/publishable-keys`],
    ['DELETE', `/apps/${id}/publishable-keys/${key}`],
    ['DELETE', `/apps/${id}`],
  ];

  it('401 without credentials, 403 without auth:admin, and credentials of an app make no others', async () => {
    const less = await api.holding('auth:read', 'auth:write');
    const admin = await api.holding('auth:*');
    const make: [string, string, object?] = ['POST', '/apps', { name: 'x', slug: newSlug() }];
    for (const [method, path, body] of [...calls('default'), make, ['GET', '/apps'] as const]) {
      expect((await api.refusal(method, path, { token: null, body }))[0]).toBe(401);
      expect((await api.refusal(method, path, { token: less, body }))[0]).toBe(403);
    }
    for (const [method, path, body] of [make, ['GET', '/apps', undefined] as const])
      expect(await api.refusal(method, path, { token: admin, body })).toEqual([
        403,
        "app_id: not the caller's own",
        'app_mismatch',
      ]);
    expect((await api.refusal('GET', '/apps/default', { token: admin }))[0]).toBe(200);
  });

  it("another app and another tenant's is not there, in the same bytes", async () => {
    const admin = await api.holding('auth:*');
    const tenant = newSlug();
    const foreign = await api.app({}, { tenant });
    const callers = [
      { seeing: await api.app(), options: { token: admin } },
      { seeing: foreign, options: { token: admin } },
      { seeing: foreign, options: { tenant: newSlug() } },
    ];
    for (const { seeing, options } of callers)
      for (const [index, [method, path, body]] of calls(seeing.id).entries()) {
        const raw = async (at: string) => {
          const answer = await server.request(method, `/auth/v1/auth${at}`, { ...options, body });
          return { status: answer.status, text: answer.text };
        };
        const seen = await raw(path);
        expect(seen.status).toBe(404);
        expect(seen).toEqual(await raw(calls(absent)[index]![1]));
      }
    expect((await api.refusal('GET', `/apps/${foreign.id}`))[0]).toBe(200);
  });
});
