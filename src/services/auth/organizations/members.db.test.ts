import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Member, Organization, OrgRole } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newId } from '../../../lib/ids.ts';
import { newEmail, otherApp } from '../testing/index.ts';
import { orgTools, type Staffed } from '../testing/orgs.ts';

const absent = 'mem_01m7w6qgepfq9s8v9ww1d5x0gz';
const insufficient = (role: OrgRole) => [
  403,
  `needs the role ${role} in the organization`,
  'insufficient_role',
];

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

describe('add', () => {
  it('makes a user a member', async () => {
    const { org, path, stranger } = await api.staffed();
    const member: Member = await api.send('POST', `${path}/members`, {
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
    expect(await api.refusal('POST', `${path}/members`, { body: { user_id: id } })).toEqual([
      409,
      'already a member',
    ]);
    expect(await countOf(org)).toBe(4);
  });

  it('is for the administration of the app: everybody else invites', async () => {
    const { org, path, owner, admin, member, stranger } = await api.staffed();
    const someone = await api.signedIn();
    const body = { user_id: someone.user.id };
    for (const who of [owner, admin])
      expect(await api.refusal('POST', `${path}/members`, { ...api.as(who), body })).toEqual([
        403,
        `members come by invitation: see POST /organizations/${org.id}/invitations`,
        'insufficient_scope',
      ]);
    expect(await api.refusal('POST', `${path}/members`, { ...api.as(member), body })).toEqual(
      insufficient('admin'),
    );
    expect((await api.refusal('POST', `${path}/members`, { ...api.as(stranger), body }))[0]).toBe(404);
    expect(await api.membership(org, someone)).toBeUndefined();
    const token = await api.holding('auth:write');
    expect(await api.send('POST', `${path}/members`, { token, body })).toMatchObject({
      role: 'member',
      user: { id: someone.user.id, email: null },
    });
  });

  it('is not for who holds auth:write in the organization only', async () => {
    const { org, path, member } = await api.staffed();
    const role = await api.role();
    await api.send('POST', `/roles/${role.id}/permissions`, { body: { resource: 'auth', action: '*' } });
    await api.send('POST', `/roles/${role.id}/assign`, {
      body: { user_id: member.user.id, org_id: org.id },
    });
    await api.send('POST', '/me/switch-org', { ...api.as(member), body: { org_id: org.id } });
    const body = { user_id: (await api.signedIn()).user.id };
    expect((await api.refusal('POST', `${path}/members`, { ...api.as(member), body }))[0]).toBe(403);
    // Membership does give access to everything that belongs to the organization.
    const paths = [`${path}/members`, `${path}/invitations`, `${path}/teams`];
    for (const one of paths) expect((await api.refusal('GET', one, api.as(member)))[0]).toBe(200);
    expect(
      await api.refusal('POST', `${path}/teams`, { ...api.as(member), body: { name: 'T', slug: 't' } }),
    ).toEqual([201, '']);
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

describe('the email address of a member', () => {
  const seenBy = async (path: string, options: object) => {
    const { members } = (await api.send('GET', `${path}/members`, options)) as { members: Member[] };
    return Object.fromEntries(members.map(({ user_id, user }) => [user_id, user.email]));
  };

  it('is shown to who knows it: the member, who invited it, and who reads all accounts', async () => {
    const { org, path, owner, admin, member } = await api.staffed();
    const invited = await api.signedIn();
    await api.send('POST', `${path}/invitations`, { ...api.as(owner), body: { email: invited.user.email } });
    const { token } = await api.message(invited.user.email!, 'invitation');
    const accepted: Member = await api.send('POST', '/invitations/accept', {
      ...api.as(invited),
      body: { token },
    });
    expect(accepted.user.email).toBe(invited.user.email);
    const all = [owner, admin, member, invited];
    const expected = (...known: typeof all) =>
      Object.fromEntries(all.map((who) => [who.user.id, known.includes(who) ? who.user.email : null]));
    expect(await seenBy(path, api.as(owner))).toEqual(expected(owner, invited));
    expect(await seenBy(path, api.as(admin))).toEqual(expected(admin, invited));
    expect(await seenBy(path, api.as(member))).toEqual(expected(member));
    expect(await seenBy(path, api.as(invited))).toEqual(expected(invited));
    expect(await seenBy(path, { token: await api.holding('auth:read') })).toEqual(expected(...all));
    expect(await seenBy(path, {})).toEqual(expected(...all));

    const update = (memberId: string) =>
      api.send('PATCH', `${path}/members/${memberId}`, { ...api.as(owner), body: { role: 'member' } });
    expect((await update(accepted.id)).user.email).toBe(invited.user.email);
    expect((await update((await api.membership(org, admin)).id)).user.email).toBeNull();
  });

  it('is not shown where it is another one by now, nor for an invitation that nobody accepted', async () => {
    const { path, owner, member } = await api.staffed();
    await api.send('POST', `${path}/invitations`, { ...api.as(owner), body: { email: newEmail() } });
    await server.db.sql`
      insert into auth.invitations (id, tenant_id, org_id, email, role, status, token_hash, expires_at)
      select ${newId('inv')}, 'default', ${path.slice('/organizations/'.length)}, ${member.user.email}, 'member', state,
        decode(md5(random()::text), 'hex'), now() + interval '1 hour'
      from unnest(array['declined']) as state`;
    expect((await seenBy(path, api.as(owner)))[member.user.id]).toBeNull();
    await server.db.sql`update auth.invitations set status = 'accepted' where email = ${member.user.email}`;
    expect((await seenBy(path, api.as(owner)))[member.user.id]).toBe(member.user.email);
    await api.send('PATCH', `/users/${member.user.id}`, { body: { email: newEmail() } });
    expect((await seenBy(path, api.as(owner)))[member.user.id]).toBeNull();
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
