import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Member, Organization, OrgRole } from '../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { otherApp } from './testing.ts';
import { orgTools, type Staffed } from './testing-orgs.ts';

const absent = 'mem_01m7w6qgepfq9s8v9ww1d5x0gz';
const insufficient = (role: OrgRole) => [
  403,
  `needs the role ${role} in the organization`,
  'insufficient_role',
];
const lastOwner = [409, 'last owner of the organization'];

let server: TestServer;
let api: ReturnType<typeof orgTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = orgTools(server);
});
afterAll(() => server.close());

const countOf = async ({ id }: Pick<Organization, 'id'>) =>
  ((await api.send('GET', `/organizations/${id}`)) as Organization).member_count;

/** The path of somebody's membership. */
const pathOf = async ({ org, path, ...staff }: Staffed, who: 'owner' | 'admin' | 'member') =>
  `${path}/members/${(await api.membership(org, staff[who])).id}`;

describe('add', () => {
  it('makes a user a member', async () => {
    const { org, path, owner, stranger } = await api.staffed();
    const member: Member = await api.send('POST', `${path}/members`, {
      ...api.as(owner),
      body: { user_id: stranger.user.id },
    });
    const { id, email, name, image } = stranger.user;
    expect(member).toEqual({
      id: expect.stringMatching(/^mem_/),
      org_id: org.id,
      user_id: id,
      role: 'member',
      user: { id, email, name, image },
      created_at: expect.any(String),
      updated_at: member.created_at,
    });
    expect(await countOf(org)).toBe(4);
    expect((await api.events(org.id)).at(-1)).toEqual({
      type: 'auth.organization.member_added',
      data: { app_id: 'default', org_id: org.id, member_id: member.id, user_id: id, role: 'member' },
    });
    expect(await api.refusal('POST', `${path}/members`, { ...api.as(owner), body: { user_id: id } })).toEqual(
      [409, 'already a member'],
    );
    expect(await countOf(org)).toBe(4);
  });

  it('admins add members, owners everybody', async () => {
    const { path, owner, admin, member } = await api.staffed();
    for (const role of ['admin', 'owner'] as const) {
      const body = { user_id: (await api.signedIn()).user.id, role };
      expect(await api.refusal('POST', `${path}/members`, { ...api.as(admin), body })).toEqual(
        insufficient('owner'),
      );
      expect(await api.send('POST', `${path}/members`, { ...api.as(owner), body })).toMatchObject({ role });
    }
    const body = { user_id: (await api.signedIn()).user.id };
    expect(await api.refusal('POST', `${path}/members`, { ...api.as(member), body })).toEqual(
      insufficient('admin'),
    );
    expect(await api.send('POST', `${path}/members`, { ...api.as(admin), body })).toMatchObject({
      role: 'member',
    });
  });

  it('404 for a user of another app, as for one that does not exist', async () => {
    const { path } = await api.staffed();
    const elsewhere = await api.signedIn({ app: await otherApp(server, 'default') });
    for (const user_id of [elsewhere.user.id, 'user_01m7w6qgepfq9s8v7qdkvzwn9z'])
      expect(await api.refusal('POST', `${path}/members`, { body: { user_id } })).toEqual([
        404,
        'user not found',
      ]);
  });

  it.each<[string, object]>([
    ['user_id', {}],
    ['user_id', { user_id: 'ada' }],
    ['user_id', { user_id: 'user_\u0000' }],
    ['role', { user_id: 'user_01m7w6qgepfq9s8v7qdkvzwn9z', role: 'king' }],
    ['rol', { user_id: 'user_01m7w6qgepfq9s8v7qdkvzwn9z', rol: 'member' }],
  ])('400 names %s: %j', async (field, body) => {
    const { id } = await api.create();
    expect(await api.refusal('POST', `/organizations/${id}/members`, { body })).toEqual([
      400,
      expect.stringContaining(field),
    ]);
  });

  it('of twenty at once for one user, one succeeds and is counted', async () => {
    const { org, path, stranger } = await api.staffed();
    const body = { user_id: stranger.user.id };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => server.request('POST', `/auth/v1/auth${path}/members`, { body })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
    expect(await countOf(org)).toBe(4);
  });
});

describe('list', () => {
  it('is by pages, newest first, and by role', async () => {
    const { org, path, member } = await api.staffed();
    const seen: Member[] = [];
    let cursor = '';
    do {
      const page = await server.request(
        'GET',
        `/auth/v1/auth${path}/members?limit=2${cursor}`,
        api.as(member),
      );
      seen.push(...(page.body as { members: Member[] }).members);
      const next = page.headers.get('X-Next-Cursor');
      cursor = next === null ? '' : `&cursor=${encodeURIComponent(next)}`;
    } while (cursor !== '');
    expect(seen).toHaveLength(3);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(3);
    const { members } = (await api.send('GET', `${path}/members?role=admin`, api.as(member))) as {
      members: Member[];
    };
    expect(members.map(({ org_id, role }) => [org_id, role])).toEqual([[org.id, 'admin']]);
    expect(await api.refusal('GET', `${path}/members?role=king`)).toEqual([
      400,
      expect.stringContaining('role'),
    ]);
  });
});

describe('update', () => {
  it('changes the role, by owners only', async () => {
    const staff = await api.staffed();
    const { org, owner, admin, member } = staff;
    const path = await pathOf(staff, 'member');
    const body = { role: 'admin' };
    for (const who of [admin, member])
      expect(await api.refusal('PATCH', path, { ...api.as(who), body })).toEqual(insufficient('owner'));
    const changed: Member = await api.send('PATCH', path, { ...api.as(owner), body });
    expect(changed).toMatchObject({ role: 'admin', user_id: member.user.id });
    expect(await api.send('PATCH', path, { ...api.as(owner), body: changed })).toEqual(changed);
    expect((await api.events(org.id)).filter(({ type }) => type.endsWith('member_updated'))).toEqual([
      {
        type: 'auth.organization.member_updated',
        data: {
          app_id: 'default',
          org_id: org.id,
          member_id: changed.id,
          user_id: member.user.id,
          role: 'admin',
        },
      },
    ]);
    expect(await api.refusal('PATCH', path, { body: { role: 'admin', user_id: owner.user.id } })).toEqual([
      400,
      'user_id: cannot be changed',
    ]);
    expect(await api.refusal('PATCH', path, { body: {} })).toEqual([400, expect.stringContaining('role')]);
  });

  it('404 for a member of another organization, as for one that does not exist', async () => {
    const [one, other] = [await api.staffed(), await api.staffed()];
    const { id } = await api.membership(other.org, other.member);
    const request = { ...api.as(one.owner), body: { role: 'admin' } };
    await api.expectSame404('PATCH', `${one.path}/members/${id}`, `${one.path}/members/${absent}`, request);
    await api.expectSame404(
      'DELETE',
      `${one.path}/members/${id}`,
      `${one.path}/members/${absent}`,
      api.as(one.owner),
    );
  });
});

describe('remove', () => {
  it('admins remove members, owners everybody, and all may leave', async () => {
    const staff = await api.staffed();
    const { org, owner, admin, member } = staff;
    const other = await api.signedIn();
    await api.add(org, other, 'member');
    const paths = {
      owner: await pathOf(staff, 'owner'),
      admin: await pathOf(staff, 'admin'),
      member: await pathOf(staff, 'member'),
    };
    expect(await api.refusal('DELETE', paths.owner, api.as(admin))).toEqual(insufficient('owner'));
    expect(await api.refusal('DELETE', paths.admin, api.as(member))).toEqual(insufficient('owner'));
    expect(await api.refusal('DELETE', paths.member, api.as(other))).toEqual(insufficient('admin'));
    expect(await api.send('DELETE', paths.member, api.as(admin))).toEqual({ status: 'removed' });
    expect(await api.send('DELETE', paths.admin, api.as(admin))).toEqual({ status: 'removed' });
    const { id } = await api.membership(org, other);
    expect(await api.send('DELETE', `/organizations/${org.id}/members/${id}`, api.as(owner))).toEqual({
      status: 'removed',
    });
    expect(await countOf(org)).toBe(1);
    expect((await api.refusal('DELETE', paths.member, api.as(owner)))[0]).toBe(404);
    expect(await api.refusal('GET', `/organizations/${org.id}`, api.as(admin))).toEqual([
      404,
      'organization not found',
    ]);
  });

  it('ends teams, roles in the organization and where it was active, of that user only', async () => {
    const staff = await api.staffed();
    const { org, path, admin, member } = staff;
    const team = await api.send('POST', `${path}/teams`, { body: { name: 'Team', slug: 'team' } });
    const role = await api.role();
    await api.send('POST', `/roles/${role.id}/permissions`, { body: { resource: 'docs', action: 'write' } });
    for (const { user, session_id } of [admin, member]) {
      await api.send('POST', `${path}/teams/${team.id}/members`, { body: { user_id: user.id } });
      await api.send('POST', `/roles/${role.id}/assign`, { body: { user_id: user.id, org_id: org.id } });
      await server.db.sql`update auth.sessions set org_id = ${org.id} where id = ${session_id}`;
    }
    await api.send('DELETE', await pathOf(staff, 'member'), api.as(member));

    expect(await api.scopesOf(member)).toEqual([]);
    expect(await api.scopesOf(admin)).toEqual(['docs:write']);
    expect(await api.send('GET', `${path}/teams/${team.id}`)).toMatchObject({ member_count: 1 });
    const sessions = await server.db.sql`
      select id, org_id from auth.sessions
      where id in (${admin.session_id}, ${member.session_id})
      order by org_id`;
    expect(sessions).toEqual([
      { id: admin.session_id, org_id: org.id },
      { id: member.session_id, org_id: null },
    ]);
    const announced = await server.db.sql<{ kind: string }[]>`
      select distinct kind from auth.changes where id in (${member.session_id}, ${member.user.id}) order by kind`;
    expect(announced.map(({ kind }) => kind)).toEqual(['session', 'user']);
    expect((await api.events(role.id)).at(-1)).toMatchObject({
      type: 'auth.role.unassigned',
      data: { user_id: member.user.id, role_id: role.id, org_id: org.id },
    });
  });

  it('of twenty at once, one succeeds and is counted', async () => {
    const staff = await api.staffed();
    const path = await pathOf(staff, 'member');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => server.request('DELETE', `/auth/v1/auth${path}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(404)]);
    expect(await countOf(staff.org)).toBe(2);
  });
});

describe('the last owner', () => {
  it('cannot be removed, demoted or leave, whoever asks', async () => {
    const staff = await api.staffed();
    const path = await pathOf(staff, 'owner');
    for (const options of [api.as(staff.owner), {}]) {
      expect(await api.refusal('DELETE', path, options)).toEqual(lastOwner);
      expect(await api.refusal('PATCH', path, { ...options, body: { role: 'admin' } })).toEqual(lastOwner);
      expect(await api.send('PATCH', path, { ...options, body: { role: 'owner' } })).toMatchObject({
        role: 'owner',
      });
    }
  });

  it('can, once there is another', async () => {
    const staff = await api.staffed();
    await api.send('PATCH', await pathOf(staff, 'admin'), { body: { role: 'owner' } });
    const path = await pathOf(staff, 'owner');
    expect(await api.send('PATCH', path, { ...api.as(staff.owner), body: { role: 'member' } })).toMatchObject(
      {
        role: 'member',
      },
    );
  });

  it.each<[string, 'DELETE' | 'PATCH', boolean]>([
    ['leave', 'DELETE', false],
    ['step down', 'PATCH', false],
    ['remove each other', 'DELETE', true],
    ['demote each other', 'PATCH', true],
  ])('remains when owners %s at once', async (_, method, crossed) => {
    for (let round = 0; round < 5; round++) {
      const [ada, charles] = [await api.signedIn(), await api.signedIn()];
      const org = await api.create({}, api.as(ada));
      await api.add(org, charles, 'owner');
      const paths = await Promise.all(
        [ada, charles].map(
          async (who) =>
            `/auth/v1/auth/organizations/${org.id}/members/${(await api.membership(org, who)).id}`,
        ),
      );
      const body = method === 'PATCH' ? { body: { role: 'member' } } : {};
      const answers = await Promise.all(
        [ada, charles].map((who, at) =>
          server.request(method, paths[crossed ? 1 - at : at]!, { ...api.as(who), ...body }),
        ),
      );
      const statuses = answers.map(({ status }) => status).sort();
      // Who was removed or demoted by the other meanwhile may not do it any more.
      expect(statuses[0]).toBe(200);
      expect(crossed ? [403, 404] : [409]).toContain(statuses[1]);
      const [{ owners }] = await server.db.sql<[{ owners: number }]>`
        select count(*)::int as owners from auth.members where org_id = ${org.id} and role = 'owner'`;
      expect(owners).toBe(1);
    }
  });

  it('passes it on when the account is erased', async () => {
    const { org, owner, admin } = await api.staffed();
    await api.send('DELETE', `/users/${owner.user.id}`);
    expect(await api.membership(org, admin)).toMatchObject({ role: 'owner' });
    expect(await countOf(org)).toBe(2);
  });

  it('is safe from adding and erasing the same user at once', async () => {
    const { org, path } = await api.staffed();
    const someone = await api.signedIn();
    const [added, erased] = await Promise.all([
      server.request('POST', `/auth/v1/auth${path}/members`, { body: { user_id: someone.user.id } }),
      server.request('DELETE', `/auth/v1/auth/users/${someone.user.id}`),
    ]);
    expect([201, 404]).toContain(added.status);
    expect(erased.status).toBe(200);
    expect(await api.membership(org, someone)).toBeUndefined();
    expect(await countOf(org)).toBe(3);
  });
});
