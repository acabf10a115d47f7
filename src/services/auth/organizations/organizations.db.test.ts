import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newSlug, otherApp } from '../testing/index.ts';
import { orgTools } from '../testing/orgs.ts';

const absent = 'org_01m7w6qgepfq9s8v9m3zmg852z';

let server: TestServer;
let api: ReturnType<typeof orgTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = orgTools(server);
});
afterAll(() => server.close());

describe('create', () => {
  it('makes the user who does it the owner', async () => {
    const ada = await api.signedIn();
    const slug = newSlug();
    const org: Organization = await api.create({ name: ' Analytical Engines ', slug }, api.as(ada));
    expect(org).toEqual({
      id: expect.stringMatching(/^org_/),
      app_id: 'default',
      name: 'Analytical Engines',
      slug,
      logo: null,
      metadata: {},
      member_count: 1,
      created_at: expect.any(String),
      updated_at: org.created_at,
    });
    expect(await api.send('GET', `/organizations/${org.id}`, api.as(ada))).toEqual(org);
    expect(await api.membership(org, ada)).toMatchObject({ role: 'owner' });
    expect((await api.events(org.id)).map(({ type }) => type)).toEqual([
      'auth.organization.created',
      'auth.organization.member_added',
    ]);
  });

  it('by root has no members, or the user that root names as owner', async () => {
    expect(await api.create({ logo: 'https://cdn.example.com/l.svg', metadata: { a: [1] } })).toMatchObject({
      logo: 'https://cdn.example.com/l.svg',
      metadata: { a: [1] },
      member_count: 0,
    });
    const { user } = await api.signedIn();
    const org = await api.create({}, { headers: { 'X-User-ID': user.id } });
    expect(org.member_count).toBe(1);
    const nobody = { headers: { 'X-User-ID': 'user_01m7w6qgepfq9s8v7qdkvzwn9z' } };
    expect(
      await api.refusal('POST', '/organizations', { ...nobody, body: { name: 'Org', slug: newSlug() } }),
    ).toEqual([400, 'X-User-ID: no such user']);
  });

  it.each<[string, object]>([
    ['name', { name: '' }],
    ['name', { name: ' ' }],
    ['name', { name: 'a\u0000b' }],
    ['name', { name: '\ud800' }],
    ['name', { name: 'x'.repeat(129) }],
    ['slug', { slug: 'Not A Slug' }],
    ['slug', { slug: undefined }],
    ['logo', { logo: 'javascript:alert(1)' }],
    ['logo', { logo: 'cdn' }],
    ['metadata', { metadata: { a: { b: { c: { d: { e: {} } } } } } }],
    ['metadata', { metadata: { a: 'x'.repeat(16_384) } }],
    ['metadata', { metadata: { a: '\u0000' } }],
    ['metadata', { metadata: [] }],
    ['nmae', { nmae: 'x' }],
  ])('400 names %s (%#)', async (field, body) => {
    const refused = await api.refusal('POST', '/organizations', {
      body: { name: 'Org', slug: newSlug(), ...body },
    });
    expect(refused).toEqual([400, expect.stringContaining(field)]);
  });

  it('401 without credentials, 403 for another app than the own', async () => {
    const body = { name: 'Org', slug: newSlug() };
    expect((await api.refusal('POST', '/organizations', { token: null, body }))[0]).toBe(401);
    const ada = await api.signedIn();
    const { id } = await otherApp(server, 'default');
    expect(
      await api.refusal('POST', '/organizations', { ...api.as(ada), body: { ...body, app_id: id } }),
    ).toEqual([403, "app_id: not the caller's own", 'app_mismatch']);
  });

  it('of thirty at once with one slug, one succeeds', async () => {
    const ada = await api.signedIn();
    const body = { name: 'Same', slug: newSlug() };
    const answers = await Promise.all(
      Array.from({ length: 30 }, () =>
        server.request('POST', '/auth/v1/auth/organizations', { ...api.as(ada), body }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409).map((answer) => answer.body)).toEqual(
      Array(29).fill({ error: 'slug already taken', code: 'CONFLICT' }),
    );
  });
});

describe('list', () => {
  it("is a user's own, by pages", async () => {
    const [ada, charles] = [await api.signedIn(), await api.signedIn()];
    const own: string[] = [];
    for (let made = 0; made < 5; made++) own.unshift((await api.create({}, api.as(ada))).id);
    await api.create({}, api.as(charles));
    const seen: Organization[] = [];
    let cursor = '';
    do {
      const page = await server.request('GET', `/auth/v1/auth/organizations?limit=2${cursor}`, api.as(ada));
      seen.push(...(page.body as { organizations: Organization[] }).organizations);
      const next = page.headers.get('X-Next-Cursor');
      cursor = next === null ? '' : `&cursor=${encodeURIComponent(next)}`;
    } while (cursor !== '');
    expect(seen.map(({ id }) => id).sort()).toEqual([...own].sort());
    expect(seen.map(({ created_at }) => created_at)).toEqual(
      seen.map(({ created_at }) => created_at).sort((a, b) => (a < b ? 1 : -1)),
    );
  });

  it("with auth:read is the app's", async () => {
    const { org } = await api.staffed();
    const token = await api.holding('auth:read');
    const { organizations } = (await api.send('GET', '/organizations?limit=200', { token })) as {
      organizations: Organization[];
    };
    expect(organizations.map(({ id }) => id)).toContain(org.id);
  });

  it.each([
    ['limit', '?limit=0'],
    ['limit', '?limit=201'],
    ['cursor', '?cursor=nonsense'],
  ])('400 names %s: %s', async (field, query) => {
    expect(await api.refusal('GET', `/organizations${query}`)).toEqual([400, expect.stringContaining(field)]);
  });
});

it('404 for an app that root names and that is none', async () => {
  const app_id = 'app_01m7w6qgepfq9s8v9m3zmg852z';
  expect(await api.refusal('GET', `/organizations?app_id=${app_id}`)).toEqual([404, 'app not found']);
  const body = { name: 'Org', slug: newSlug(), app_id };
  expect(await api.refusal('POST', '/organizations', { body })).toEqual([404, 'app not found']);
});

describe('update', () => {
  it('is for admins; what is absent stays', async () => {
    const { org, path, admin, member, stranger } = await api.staffed();
    const body = { name: 'New', metadata: { a: 1 }, logo: 'https://cdn.example.com/n.png' };
    const changed = (await api.send('PATCH', path, { ...api.as(admin), body })) as Organization;
    expect(changed).toEqual({ ...org, ...body, member_count: 3, updated_at: changed.updated_at });
    expect(await api.send('PATCH', path, { ...api.as(admin), body: changed })).toEqual(changed);
    expect((await api.events(org.id)).at(-1)).toMatchObject({
      type: 'auth.organization.updated',
      data: { org_id: org.id, fields: ['name', 'logo', 'metadata'] },
    });
    expect(await api.refusal('PATCH', path, { ...api.as(member), body })).toEqual([
      403,
      'needs the role admin in the organization',
      'insufficient_role',
    ]);
    await api.expectSame404('PATCH', path, `/organizations/${absent}`, { ...api.as(stranger), body });
    expect(await api.refusal('PATCH', path, { body: { app_id: 'app_01m7w6qgepfq9s8v9m3zmg852z' } })).toEqual([
      400,
      'app_id: cannot be changed',
    ]);
  });

  it('409 for the slug of another', async () => {
    const [one, other] = [await api.create(), await api.create()];
    expect(await api.refusal('PATCH', `/organizations/${one.id}`, { body: { slug: other.slug } })).toEqual([
      409,
      'slug already taken',
    ]);
  });
});

describe('delete', () => {
  it('is for owners, and ends teams, invitations, roles and where it was active', async () => {
    const { org, path, owner, admin, member } = await api.staffed();
    await api.send('POST', `${path}/teams`, { body: { name: 'Team', slug: 'team' } });
    await api.send('POST', `${path}/invitations`, { body: { email: 'charles@example.com' } });
    const role = await api.role();
    await api.send('POST', `/roles/${role.id}/permissions`, { body: { resource: 'docs', action: 'write' } });
    await api.send('POST', `/roles/${role.id}/assign`, { body: { user_id: member.user.id, org_id: org.id } });
    await server.db.sql`update auth.sessions set org_id = ${org.id} where id = ${member.session_id}`;
    expect(await api.scopesOf(member)).toEqual(['docs:write']);

    expect((await api.refusal('DELETE', path, api.as(admin)))[2]).toBe('insufficient_role');
    expect(await api.send('DELETE', path, api.as(owner))).toEqual({ status: 'deleted' });

    expect(await api.scopesOf(member)).toEqual([]);
    const [left] = await server.db.sql`
      select
        (select count(*)::int from auth.members where org_id = ${org.id}) as members,
        (select count(*)::int from auth.teams where org_id = ${org.id}) as teams,
        (select count(*)::int from auth.invitations where org_id = ${org.id}) as invitations,
        (select count(*)::int from auth.assignments where org_id = ${org.id}) as assignments,
        (select count(*)::int from auth.sessions where org_id = ${org.id}) as sessions,
        (select count(*)::int from auth.changes where kind = 'session' and id = ${member.session_id}) as announced`;
    expect(left).toEqual({
      members: 0,
      teams: 0,
      invitations: 0,
      assignments: 0,
      sessions: 0,
      announced: 1,
    });
    expect((await api.events(org.id)).at(-1)!.type).toBe('auth.organization.deleted');
    expect((await api.refusal('DELETE', path, api.as(owner)))[0]).toBe(404);
  });

  it('of twenty at once, one succeeds', async () => {
    const { path, owner } = await api.staffed();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => server.request('DELETE', `/auth/v1/auth${path}`, api.as(owner))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(404)]);
  });
});

describe('who may', () => {
  // These ids do not exist in the organization: only access to the organization decides here.
  const [mem, inv, team, tmem] = [
    'mem_01m7w6qgepfq9s8v9ww1d5x0gz',
    'inv_01m7w6qgepfq9s8va40bxh73jz',
    'team_01m7w6qgepfq9s8vaca1yxnvzz',
    'tmem_01m7w6qgepfq9s8vag2c5k8r1z',
  ];
  const someone = 'user_01m7w6qgepfq9s8v7qdkvzwn9z';
  const table: [method: string, path: string, body?: object][] = [
    ['GET', ''],
    ['PATCH', '', { name: 'x' }],
    ['DELETE', ''],
    ['POST', '/members', { user_id: someone }],
    ['GET', '/members'],
    ['PATCH', `/members/${mem}`, { role: 'admin' }],
    ['DELETE', `/members/${mem}`],
    ['POST', '/invitations', { email: 'ada@example.com' }],
    ['GET', '/invitations'],
    ['DELETE', `/invitations/${inv}`],
    ['POST', '/teams', { name: 'Team', slug: 'team' }],
    ['GET', '/teams'],
    ['GET', `/teams/${team}`],
    ['PATCH', `/teams/${team}`, { name: 'x' }],
    ['DELETE', `/teams/${team}`],
    ['POST', `/teams/${team}/members`, { user_id: someone }],
    ['GET', `/teams/${team}/members`],
    ['DELETE', `/teams/${team}/members/${tmem}`],
  ];

  it('nobody without credentials; strangers, other apps and tenants see what does not exist', async () => {
    const { path, stranger } = await api.staffed();
    const [sibling, foreign] = [await otherApp(server, 'default'), await otherApp(server)];
    const outsiders = [
      api.as(stranger),
      api.as(await api.signedIn({ app: sibling })),
      { headers: { 'X-App-ID': sibling.id } },
      api.as(await api.signedIn({ app: foreign, tenant: foreign.tenant })),
      { tenant: foreign.tenant, headers: { 'X-App-ID': foreign.id } },
    ];
    for (const [method, below, body] of table) {
      const request = { ...(body && { body }) };
      const { status } = await server.request(method, `/auth/v1/auth${path}${below}`, {
        token: null,
        ...request,
      });
      expect([method, below, status]).toEqual([method, below, 401]);
      for (const outsider of outsiders) {
        const nowhere = `/organizations/${absent}${below}`;
        await api.expectSame404(method, `${path}${below}`, nowhere, { ...request, ...outsider });
      }
    }
  });

  it('a reader may read every organization of the app and change none', async () => {
    const { path } = await api.staffed();
    const token = await api.holding('auth:read');
    for (const [method, below, body] of table) {
      const request = { token, ...(body && { body }) };
      const { status, body: answer } = await server.request(method, `/auth/v1/auth${path}${below}`, request);
      if (method === 'GET') expect([below, status]).toEqual([below, below.includes('team_') ? 404 : 200]);
      else expect([below, status, answer.reason]).toEqual([below, 403, 'insufficient_scope']);
    }
  });

  it.each(['org_', 'org_1', 'mem_01m7w6qgepfq9s8v9ww1d5x0gz', '%00', '%ED%A0%80', 'x'.repeat(5_000)])(
    'a malformed id is a 400 or a 404 (%#)',
    async (id) => {
      const [status] = await api.refusal('GET', `/organizations/${id}`);
      expect([400, 404]).toContain(status);
    },
  );
});
