import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Team, TeamMember } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newSlug } from '../testing/index.ts';
import { orgTools, type Staffed } from '../testing/orgs.ts';

const absent = 'team_01m7w6qgepfq9s8vaca1yxnvzz';
const absentMember = 'tmem_01m7w6qgepfq9s8vag2c5k8r1z';

let server: TestServer;
let api: ReturnType<typeof orgTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = orgTools(server);
});
afterAll(() => server.close());

const create = ({ path }: Pick<Staffed, 'path'>, body: object = {}): Promise<Team> =>
  api.send('POST', `${path}/teams`, { body: { name: 'Team', slug: newSlug(), ...body } });

describe('a team', () => {
  it('is made by admins and seen by members', async () => {
    const { org, path, admin, member } = await api.staffed();
    const body = { name: ' Engine room ', slug: 'engine-room' };
    expect((await api.refusal('POST', `${path}/teams`, { ...api.as(member), body }))[2]).toBe(
      'insufficient_role',
    );
    const team: Team = await api.send('POST', `${path}/teams`, { ...api.as(admin), body });
    expect(team).toEqual({
      id: expect.stringMatching(/^team_/),
      org_id: org.id,
      name: 'Engine room',
      slug: 'engine-room',
      member_count: 0,
      created_at: expect.any(String),
      updated_at: team.created_at,
    });
    expect(await api.send('GET', `${path}/teams/${team.id}`, api.as(member))).toEqual(team);
    expect(await api.send('GET', `${path}/teams`, api.as(member))).toEqual({ teams: [team] });
  });

  it('has a slug of its own in the organization, also of twenty made at once', async () => {
    const [one, other] = [await api.staffed(), await api.staffed()];
    const body = { name: 'Team', slug: 'same' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => server.request('POST', `/auth/v1/auth${one.path}/teams`, { body })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
    expect(await create(other, body)).toMatchObject({ slug: 'same' });
    const { id } = await create(one);
    expect(await api.refusal('PATCH', `${one.path}/teams/${id}`, { body: { slug: 'same' } })).toEqual([
      409,
      'slug already taken',
    ]);
  });

  it('is changed by admins; what is absent stays', async () => {
    const staff = await api.staffed();
    const team = await create(staff);
    const path = `${staff.path}/teams/${team.id}`;
    const body = { name: 'New' };
    expect((await api.refusal('PATCH', path, { ...api.as(staff.member), body }))[2]).toBe(
      'insufficient_role',
    );
    const changed: Team = await api.send('PATCH', path, { ...api.as(staff.admin), body });
    expect(changed).toEqual({ ...team, name: 'New', updated_at: changed.updated_at });
    expect(await api.send('PATCH', path, { ...api.as(staff.admin), body: changed })).toEqual(changed);
  });

  it('is deleted by admins, once', async () => {
    const staff = await api.staffed();
    const team = await create(staff);
    const path = `${staff.path}/teams/${team.id}`;
    await api.send('POST', `${path}/members`, { body: { user_id: staff.member.user.id } });
    expect((await api.refusal('DELETE', path, api.as(staff.member)))[2]).toBe('insufficient_role');
    expect(await api.send('DELETE', path, api.as(staff.admin))).toEqual({ status: 'deleted' });
    expect(await api.refusal('DELETE', path, api.as(staff.admin))).toEqual([404, 'team not found']);
    expect(await api.send('GET', staff.path)).toMatchObject({ member_count: 3 });
  });

  it.each<[string, object]>([
    ['name', { name: ' ' }],
    ['name', { name: 'a\u0000b' }],
    ['name', { name: '\ud800' }],
    ['name', { name: 'x'.repeat(129) }],
    ['slug', { slug: 'Not A Slug' }],
    ['nmae', { nmae: 'x' }],
  ])('400 names %s (%#)', async (field, body) => {
    const { id } = await api.create();
    const refused = await api.refusal('POST', `/organizations/${id}/teams`, {
      body: { name: 'Team', slug: 'team', ...body },
    });
    expect(refused).toEqual([400, expect.stringContaining(field)]);
  });
});

describe('the members of a team', () => {
  it('are members of the organization, each once', async () => {
    const staff = await api.staffed();
    const { id } = await create(staff);
    const path = `${staff.path}/teams/${id}`;
    const body = { user_id: staff.member.user.id };
    expect((await api.refusal('POST', `${path}/members`, { ...api.as(staff.member), body }))[2]).toBe(
      'insufficient_role',
    );
    const added: TeamMember = await api.send('POST', `${path}/members`, { ...api.as(staff.admin), body });
    expect(added).toEqual({
      id: expect.stringMatching(/^tmem_/),
      team_id: id,
      user_id: staff.member.user.id,
      created_at: expect.any(String),
    });
    expect(await api.refusal('POST', `${path}/members`, { body })).toEqual([409, 'already a member']);
    for (const user_id of [staff.stranger.user.id, 'user_01m7w6qgepfq9s8v7qdkvzwn9z'])
      expect(await api.refusal('POST', `${path}/members`, { body: { user_id } })).toEqual([
        404,
        'member not found',
      ]);
    expect(await api.refusal('POST', `${path}/members`, { body: { user_id: 'ada' } })).toEqual([
      400,
      expect.stringContaining('user_id'),
    ]);
    expect(await api.send('GET', path)).toMatchObject({ member_count: 1 });
  });

  it('are listed by pages to members', async () => {
    const staff = await api.staffed();
    const { id } = await create(staff);
    const path = `${staff.path}/teams/${id}/members`;
    for (const who of [staff.owner, staff.admin, staff.member])
      await api.send('POST', path, { body: { user_id: who.user.id } });
    const seen: TeamMember[] = [];
    let cursor = '';
    do {
      const page = await server.request('GET', `/auth/v1/auth${path}?limit=2${cursor}`, api.as(staff.member));
      seen.push(...(page.body as { members: TeamMember[] }).members);
      const next = page.headers.get('X-Next-Cursor');
      cursor = next === null ? '' : `&cursor=${encodeURIComponent(next)}`;
    } while (cursor !== '');
    expect(seen.map(({ user_id }) => user_id).sort()).toEqual(
      [staff.owner, staff.admin, staff.member].map(({ user }) => user.id).sort(),
    );
  });

  it('are removed by admins, of twenty at once once', async () => {
    const staff = await api.staffed();
    const { id } = await create(staff);
    const path = `${staff.path}/teams/${id}`;
    const added: TeamMember = await api.send('POST', `${path}/members`, {
      body: { user_id: staff.member.user.id },
    });
    const one = `${path}/members/${added.id}`;
    expect((await api.refusal('DELETE', one, api.as(staff.member)))[2]).toBe('insufficient_role');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => server.request('DELETE', `/auth/v1/auth${one}`, api.as(staff.admin))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(404)]);
    expect(await api.send('GET', path)).toMatchObject({ member_count: 0 });
  });
});

it("another organization's teams and team members are answered as ones that do not exist", async () => {
  const [one, other] = [await api.staffed(), await api.staffed()];
  const { id } = await create(other);
  const added: TeamMember = await api.send('POST', `${other.path}/teams/${id}/members`, {
    body: { user_id: other.member.user.id },
  });
  const own = await create(one);
  const owner = api.as(one.owner);
  const teams = `${one.path}/teams`;
  for (const [method, below, body] of [
    ['GET', ''],
    ['PATCH', '', { name: 'x' }],
    ['DELETE', ''],
    ['POST', '/members', { user_id: one.member.user.id }],
    ['GET', '/members'],
    ['DELETE', `/members/${added.id}`],
  ] as const) {
    const request = { ...owner, ...(body && { body }) };
    await api.expectSame404(method, `${teams}/${id}${below}`, `${teams}/${absent}${below}`, request);
  }
  const members = `${teams}/${own.id}/members`;
  await api.expectSame404('DELETE', `${members}/${added.id}`, `${members}/${absentMember}`, owner);
});
