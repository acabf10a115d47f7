import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Invitation, Member, OrgRole } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { issueToken } from '../directory/tokens.ts';
import { otherApp } from '../testing/index.ts';
import { orgTools, type Staffed } from '../testing/orgs.ts';
import { messagesTo } from '../testing/messages.store.ts';

const deadToken = [400, 'token: invalid or expired', 'invalid_token'];

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
