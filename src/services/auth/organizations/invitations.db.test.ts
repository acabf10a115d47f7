import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Invitation, OrgRole } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newEmail } from '../testing/index.ts';
import { orgTools, type Staffed } from '../testing/orgs.ts';
import { messagesTo } from '../testing/messages.store.ts';

const absent = 'inv_01m7w6qgepfq9s8va40bxh73jz';

let server: TestServer;
let api: ReturnType<typeof orgTools>;
beforeAll(async () => {
  // Below, twenty mails go to one address at once, which the limit of mails to an address would prevent.
  const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1', PLINTH_AUTH_MAILS_PER_ADDRESS: 'off' };
  server = await testServer({ services: ['auth'], env });
  api = orgTools(server);
});
afterAll(() => server.close());

const invite = ({ path }: Pick<Staffed, 'path'>, email: string, role?: OrgRole): Promise<Invitation> =>
  api.send('POST', `${path}/invitations`, { body: { email, ...(role && { role }) } });

/** The messages sent to the address, newest first. */
const sentTo = async (email: string) => (await messagesTo(server.db.sql, email)).toReversed();

/** A signed-in user who was invited, with the token. */
async function invited(staff: Pick<Staffed, 'path'>, role: OrgRole = 'member') {
  const who = await api.signedIn();
  const invitation = await invite(staff, who.user.email!, role);
  const [message] = await sentTo(who.user.email!);
  return { who, invitation, token: message!.token! };
}

const statusOf = async ({ path }: Pick<Staffed, 'path'>, { id }: Pick<Invitation, 'id'>) => {
  const { invitations } = (await api.send('GET', `${path}/invitations?limit=200`)) as {
    invitations: Invitation[];
  };
  return invitations.find((invitation) => invitation.id === id)!.status;
};

const expire = ({ id }: Pick<Invitation, 'id'>) =>
  server.db.sql`update auth.invitations set expires_at = now() - interval '1 second' where id = ${id}`;

describe('create', () => {
  it('sends the token, which no answer and no event shows', async () => {
    const { org, path, admin } = await api.staffed();
    const email = newEmail();
    const answer = await server.request('POST', `/auth/v1/auth${path}/invitations`, {
      ...api.as(admin),
      body: { email: email.toUpperCase() },
    });
    expect(answer.status).toBe(201);
    const invitation = answer.body as Invitation;
    expect(invitation).toEqual({
      id: expect.stringMatching(/^inv_/),
      org_id: org.id,
      email,
      role: 'member',
      status: 'pending',
      invited_by: admin.user.id,
      expires_at: expect.any(String),
      created_at: expect.any(String),
    });
    expect(Date.parse(invitation.expires_at) - Date.parse(invitation.created_at)).toBe(168 * 3_600_000);
    const [message] = await sentTo(email);
    expect(message).toMatchObject({
      kind: 'invitation',
      token: expect.stringMatching(/^inv_[0-9A-Za-z]{55}$/),
    });
    expect(message!.text).toContain(`/pages/invitation?token=${message!.token}`);
    const list = await server.request('GET', `/auth/v1/auth${path}/invitations`);
    const events = await api.events(org.id);
    expect(events.at(-1)!.type).toBe('auth.organization.invited');
    for (const shown of [answer.text, list.text, JSON.stringify(events)])
      expect(shown).not.toContain(message!.token);
  });

  it('escapes what the organization is called', async () => {
    const org = await api.create({ name: '<script>alert(1)</script>' });
    const email = newEmail();
    await invite({ path: `/organizations/${org.id}` }, email);
    const [message] = await sentTo(email);
    expect(message!.html).not.toContain('<script>');
    expect(message!.text).toContain(org.name);
  });

  it('looks like the pages of the organization, and names it on the company of the app', async () => {
    const app = await api.app();
    const at = api.at({ app });
    const org = await api.create({ name: 'Difference Engines' }, at);
    const brand = (body: object) =>
      api.send('POST', '/branding', { ...at, body: { app_id: app.id, ...body } });
    await brand({ company_name: 'Engines', primary_color: '#123456' });
    await brand({ company_name: 'Engines of Difference', primary_color: '#0f766e', org_id: org.id });
    const email = newEmail();
    await api.send('POST', `/organizations/${org.id}/invitations`, { ...at, body: { email } });
    const [message] = await sentTo(email);
    expect(message!.subject).toBe('Invitation to Difference Engines on Engines');
    expect(message!.text).toContain('join Difference Engines on Engines.');
    expect(message!.text).toContain('\n-- \nEngines of Difference\n');
    expect(message!.html).toContain('background-color:#0f766e');
    expect(message!.html).not.toContain('#123456');
  });

  it("leads to the app's own page where it has one", async () => {
    const app = await api.app({
      settings: {
        links: {
          verify_email: null,
          reset_password: null,
          invitation: 'https://app.example.com/join?t={token}',
        },
      },
    });
    const org = await api.create({}, api.at({ app }));
    const email = newEmail();
    await api.send('POST', `/organizations/${org.id}/invitations`, { ...api.at({ app }), body: { email } });
    const [message] = await sentTo(email);
    expect(message!.text).toContain(`https://app.example.com/join?t=${message!.token}`);
  });

  it('admins invite up to admins, owners everybody; by root it is from nobody', async () => {
    const { path, owner, admin, member } = await api.staffed();
    const ask = (who: typeof owner, role: OrgRole) =>
      api.refusal('POST', `${path}/invitations`, { ...api.as(who), body: { email: newEmail(), role } });
    expect((await ask(member, 'member'))[2]).toBe('insufficient_role');
    expect((await ask(admin, 'owner'))[2]).toBe('insufficient_role');
    expect((await ask(admin, 'admin'))[0]).toBe(201);
    expect((await ask(owner, 'owner'))[0]).toBe(201);
    expect(await invite({ path }, newEmail(), 'owner')).toMatchObject({ role: 'owner', invited_by: null });
  });

  it('409 for a member', async () => {
    const { path, member } = await api.staffed();
    expect(await api.refusal('POST', `${path}/invitations`, { body: { email: member.user.email } })).toEqual([
      409,
      'already a member',
    ]);
  });

  it.each<[string, object]>([
    ['email', {}],
    ['email', { email: 'ada' }],
    ['email', { email: 'a\u0000da@example.com' }],
    ['email', { email: `${'x'.repeat(250)}@example.com` }],
    ['role', { email: 'ada@example.com', role: 'king' }],
    ['token', { email: 'ada@example.com', token: 'x' }],
  ])('400 names %s (%#)', async (field, body) => {
    const { id } = await api.create();
    expect(await api.refusal('POST', `/organizations/${id}/invitations`, { body })).toEqual([
      400,
      expect.stringContaining(field),
    ]);
  });

  it('replaces the one before, also of twenty at once', async () => {
    const staff = await api.staffed();
    const { who, invitation, token } = await invited(staff);
    await Promise.all(Array.from({ length: 20 }, () => invite(staff, who.user.email!)));
    expect(await statusOf(staff, invitation)).toBe('revoked');
    const { invitations } = (await api.send('GET', `${staff.path}/invitations?status=pending`)) as {
      invitations: Invitation[];
    };
    expect(invitations).toHaveLength(1);
    expect(await api.refusal('POST', '/invitations/accept', { ...api.as(who), body: { token } })).toEqual([
      409,
      'invitation already revoked',
    ]);
  });
});

describe('list', () => {
  it('is for admins, by pages and by status', async () => {
    const staff = await api.staffed();
    const { path, admin, member } = staff;
    const made = [];
    for (let count = 0; count < 4; count++) made.push(await invite(staff, newEmail()));
    await expire(made[0]!);
    await api.send('DELETE', `${path}/invitations/${made[1]!.id}`);
    const seen: Invitation[] = [];
    let cursor = '';
    do {
      const page = await server.request(
        'GET',
        `/auth/v1/auth${path}/invitations?limit=3${cursor}`,
        api.as(admin),
      );
      seen.push(...(page.body as { invitations: Invitation[] }).invitations);
      const next = page.headers.get('X-Next-Cursor');
      cursor = next === null ? '' : `&cursor=${encodeURIComponent(next)}`;
    } while (cursor !== '');
    expect(seen.map(({ id }) => id).sort()).toEqual(made.map(({ id }) => id).sort());
    for (const [status, count] of [
      ['pending', 2],
      ['revoked', 1],
      ['expired', 1],
      ['accepted', 0],
    ] as const) {
      const page = (await api.send('GET', `${path}/invitations?status=${status}`)) as {
        invitations: Invitation[];
      };
      expect(page.invitations.map((invitation) => invitation.status)).toEqual(Array(count).fill(status));
    }
    expect((await api.refusal('GET', `${path}/invitations`, api.as(member)))[2]).toBe('insufficient_role');
  });
});

describe('an invitation', () => {
  it('to be an owner is taken back by owners only, also by another one to the same address', async () => {
    const staff = await api.staffed();
    const email = newEmail();
    const invitation = await invite(staff, email, 'owner');
    const needsOwner = [403, 'needs the role owner in the organization', 'insufficient_role'];
    const path = `${staff.path}/invitations`;
    expect(await api.refusal('DELETE', `${path}/${invitation.id}`, api.as(staff.admin))).toEqual(needsOwner);
    expect(await api.refusal('POST', path, { ...api.as(staff.admin), body: { email } })).toEqual(needsOwner);
    expect(await statusOf(staff, invitation)).toBe('pending');
    await api.send('POST', path, { ...api.as(staff.owner), body: { email } });
    expect(await statusOf(staff, invitation)).toBe('revoked');
  });

  it('lasts no longer than the right of who sent it', async () => {
    const staff = await api.staffed();
    const second = await api.signedIn();
    const { id } = await api.add(staff.org, second, 'owner');
    const send = async (role: OrgRole): Promise<Invitation> =>
      api.send('POST', `${staff.path}/invitations`, {
        ...api.as(second),
        body: { email: newEmail(), role },
      });
    const [owner, admin, member] = [await send('owner'), await send('admin'), await send('member')];
    const others = await invite(staff, newEmail(), 'owner');
    const states = async () =>
      Promise.all([owner, admin, member, others].map((invitation) => statusOf(staff, invitation)));
    const path = `${staff.path}/members/${id}`;
    await api.send('PATCH', path, { body: { role: 'admin' } });
    expect(await states()).toEqual(['revoked', 'pending', 'pending', 'pending']);
    await api.send('DELETE', path);
    expect(await states()).toEqual(['revoked', 'revoked', 'revoked', 'pending']);
  });
});

describe('revoke', () => {
  it('takes it back once', async () => {
    const staff = await api.staffed();
    const { who, invitation, token } = await invited(staff);
    const path = `${staff.path}/invitations/${invitation.id}`;
    expect((await api.refusal('DELETE', path, api.as(staff.member)))[2]).toBe('insufficient_role');
    expect(await api.send('DELETE', path, api.as(staff.admin))).toEqual({ status: 'revoked' });
    expect(await api.refusal('DELETE', path)).toEqual([409, 'invitation already revoked']);
    expect(await api.refusal('POST', '/invitations/accept', { ...api.as(who), body: { token } })).toEqual([
      409,
      'invitation already revoked',
    ]);
  });

  it('409 once it is over, 404 for that of another organization', async () => {
    const [staff, other] = [await api.staffed(), await api.staffed()];
    const { invitation } = await invited(staff);
    await expire(invitation);
    expect(await api.refusal('DELETE', `${staff.path}/invitations/${invitation.id}`)).toEqual([
      409,
      'invitation already expired',
    ]);
    const elsewhere = `${other.path}/invitations`;
    await api.expectSame404(
      'DELETE',
      `${elsewhere}/${invitation.id}`,
      `${elsewhere}/${absent}`,
      api.as(other.owner),
    );
  });
});
