import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Invitation, Member, OrgRole } from '../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { issueToken } from './tokens.ts';
import { newEmail, otherApp } from './testing.ts';
import { orgTools, type Staffed } from './testing-orgs.ts';
import { messagesTo } from './testing-messages.store.ts';

const absent = 'inv_01m7w6qgepfq9s8va40bxh73jz';
const deadToken = [400, 'token: invalid or expired', 'invalid_token'];

let server: TestServer;
let api: ReturnType<typeof orgTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = orgTools(server);
});
afterAll(() => server.close());

const invite = ({ path }: Pick<Staffed, 'path'>, email: string, role?: OrgRole): Promise<Invitation> =>
  api.send('POST', `${path}/invitations`, { body: { email, ...(role && { role }) } });

/** What was sent to the address, newest first. */
const sentTo = async (email: string) => (await messagesTo(server.db.sql, email)).toReversed();

/** Somebody who was invited, signed in, with the token. */
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

describe('accept', () => {
  it('makes the user a member and proves the address', async () => {
    const staff = await api.staffed();
    const { who, invitation, token } = await invited(staff, 'admin');
    expect(who.user.email_verified).toBe(false);
    const member: Member = await api.send('POST', '/invitations/accept', { ...api.as(who), body: { token } });
    expect(member).toEqual(await api.membership(staff.org, who));
    expect(member).toMatchObject({ org_id: staff.org.id, user_id: who.user.id, role: 'admin' });
    expect(await statusOf(staff, invitation)).toBe('accepted');
    expect(await api.send('GET', `/users/${who.user.id}`)).toMatchObject({ email_verified: true });
    expect(await api.send('GET', staff.path)).toMatchObject({ member_count: 4 });
    expect((await api.events(who.user.id)).map(({ type }) => type)).toContain('user.email_verified');
    expect(await api.refusal('POST', '/invitations/accept', { ...api.as(who), body: { token } })).toEqual([
      409,
      'invitation already accepted',
    ]);
  });

  it('403 for another address, 401 for nobody, 409 for who is a member already', async () => {
    const staff = await api.staffed();
    const { who, token } = await invited(staff);
    const accept = (options: object) =>
      api.refusal('POST', '/invitations/accept', { ...options, body: { token } });
    expect(await accept(api.as(staff.stranger))).toEqual([403, 'the invitation is for another address']);
    expect((await accept({ token: null }))[0]).toBe(401);
    expect((await accept({}))[0]).toBe(403);
    await api.add(staff.org, who, 'member');
    expect(await accept(api.as(who))).toEqual([409, 'already a member']);
  });

  it('once it is over, or of another app, is like a token that never was', async () => {
    const staff = await api.staffed();
    const { who, invitation, token } = await invited(staff);
    const accept = (options: object, text: string) =>
      api.refusal('POST', '/invitations/accept', { ...options, body: { token: text } });
    const sibling = await otherApp(server, 'default');
    const foreign = await otherApp(server);
    const account = { email: who.user.email };
    const twins = [
      await api.signedIn({ app: sibling }, account),
      await api.signedIn({ app: foreign, tenant: foreign.tenant }, account),
    ];
    for (const twin of twins) expect(await accept(api.as(twin), token)).toEqual(deadToken);
    const unknown = issueToken('inv', token.slice(4, 10)).token;
    for (const text of [unknown, `${token}x`, 'x', '\u0000', '\ud800', who.session_token])
      expect((await accept(api.as(who), text))[0]).toBe(400);
    await expire(invitation);
    expect(await accept(api.as(who), token)).toEqual(deadToken);
  });

  it('ends with the organization', async () => {
    const staff = await api.staffed();
    const { who, token } = await invited(staff);
    await api.send('DELETE', staff.path);
    expect(await api.refusal('POST', '/invitations/accept', { ...api.as(who), body: { token } })).toEqual(
      deadToken,
    );
  });

  it('of twenty at once, one succeeds; of accepting and declining at once, one', async () => {
    const staff = await api.staffed();
    const first = await invited(staff);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        server.request('POST', '/auth/v1/auth/invitations/accept', {
          ...api.as(first.who),
          body: { token: first.token },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
    expect(await api.send('GET', staff.path)).toMatchObject({ member_count: 4 });

    const second = await invited(staff);
    const body = { token: second.token };
    const [accepted, declined] = await Promise.all([
      server.request('POST', '/auth/v1/auth/invitations/accept', { ...api.as(second.who), body }),
      server.request('POST', '/auth/v1/auth/invitations/decline', { token: null, body }),
    ]);
    expect([
      [201, 409],
      [409, 200],
    ]).toContainEqual([accepted.status, declined.status]);
    expect(await statusOf(staff, second.invitation)).toBe(accepted.status === 201 ? 'accepted' : 'declined');
  });
});

describe('decline', () => {
  it('needs the token only, and holds', async () => {
    const staff = await api.staffed();
    const { who, invitation, token } = await invited(staff);
    const decline = () => api.refusal('POST', '/invitations/decline', { token: null, body: { token } });
    expect(await api.send('POST', '/invitations/decline', { token: null, body: { token } })).toEqual({
      status: 'declined',
    });
    expect(await statusOf(staff, invitation)).toBe('declined');
    expect(await decline()).toEqual([409, 'invitation already declined']);
    expect(await api.refusal('POST', '/invitations/accept', { ...api.as(who), body: { token } })).toEqual([
      409,
      'invitation already declined',
    ]);
  });

  it('400 for a token that is over or none', async () => {
    const staff = await api.staffed();
    const { invitation, token } = await invited(staff);
    await expire(invitation);
    for (const text of [
      token,
      issueToken('inv', token.slice(4, 10)).token,
      issueToken('inv', '000000').token,
    ])
      expect(
        await api.refusal('POST', '/invitations/decline', { token: null, body: { token: text } }),
      ).toEqual(deadToken);
    expect(await api.refusal('POST', '/invitations/decline', { token: null, body: {} })).toEqual([
      400,
      expect.stringContaining('token'),
    ]);
  });
});
