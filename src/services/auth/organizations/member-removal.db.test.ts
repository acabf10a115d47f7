import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Organization, OrgRole } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { orgTools, type Staffed } from '../testing/orgs.ts';

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

/** The path of a user's membership. */
const pathOf = async ({ org, path, ...staff }: Staffed, who: 'owner' | 'admin' | 'member') =>
  `${path}/members/${(await api.membership(org, staff[who])).id}`;

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
      // A member whom the other request removed or demoted first may no longer do it.
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
