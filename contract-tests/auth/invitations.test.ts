import { describe, expect, it } from 'vitest';
import { contract, type Tenant } from '../harness.ts';
import { messageTo, newEmail, organized, tenantWithApp } from './people.ts';

const orgId = 'org_01m7w6qgepfq9s8v9m3zmg8529';
const invitationId = 'inv_01m7w6qgepfq9s8va40bxh73j9';
const unknownToken = 'inv_000001003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf1OodNu';

/** Returns the token in the message. */
const tokenTo = async (tenant: Tenant, email: string) =>
  (await messageTo(tenant, email, 'invitation')).token ?? unknownToken;

contract('auth Invitations', (api) => {
  it('201 when somebody is invited, 200 when invitations are listed and one is revoked', async () => {
    const { ada, orgId } = await organized(api);
    const { invitations } = ada.plinth.auth;
    const { id } = await invitations.create({ orgId, body: { email: 'charles@example.com' } });
    expect((await invitations.list({ orgId })).invitations).toEqual([
      expect.objectContaining({ email: 'charles@example.com', status: 'pending' }),
    ]);
    expect(await invitations.revoke({ orgId, invitationId: id })).toEqual({ status: 'revoked' });
  });

  it('404 when the organization or the invitation does not exist', async () => {
    const tenant = await tenantWithApp(api);
    const message = 'organization not found';
    await tenant.refused(404, message, ({ auth }) => auth.invitations.list({ orgId }));
    await tenant.refused(404, message, ({ auth }) =>
      auth.invitations.create({ orgId, body: { email: newEmail() } }),
    );
    const { ada, ...own } = await organized(api);
    await ada.refused(404, 'invitation not found', ({ auth }) =>
      auth.invitations.revoke({ orgId: own.orgId, invitationId }),
    );
  });

  it('create: 409 for the address of a member', async () => {
    const { ada, orgId } = await organized(api);
    await ada.refused(409, 'already a member', ({ auth }) =>
      auth.invitations.create({ orgId, body: { email: ada.email } }),
    );
  });

  describe('accept', () => {
    it('201 with the member', async () => {
      const { tenant, ada, orgId } = await organized(api);
      const charles = await tenant.withUser();
      await ada.plinth.auth.invitations.create({ orgId, body: { email: charles.email } });
      const token = await tokenTo(tenant, charles.email);
      const member = await charles.plinth.auth.invitations.accept({ body: { token } });
      if (api.target === 'server') expect(member).toMatchObject({ org_id: orgId, user_id: charles.id });
    });

    it('403 for somebody else', async () => {
      const { tenant, ada, orgId } = await organized(api);
      const email = newEmail();
      await ada.plinth.auth.invitations.create({ orgId, body: { email } });
      const token = await tokenTo(tenant, email);
      const charles = await tenant.withUser();
      await charles.refused(403, 'the invitation is for another address', ({ auth }) =>
        auth.invitations.accept({ body: { token } }),
      );
    });
  });

  describe('decline', () => {
    it('200', async () => {
      const { tenant, ada, orgId } = await organized(api);
      const email = newEmail();
      await ada.plinth.auth.invitations.create({ orgId, body: { email } });
      const token = await tokenTo(tenant, email);
      expect(await tenant.anonymous().plinth.auth.invitations.decline({ body: { token } })).toEqual({
        status: 'declined',
      });
    });

    it('400 for an unknown token', () =>
      api
        .tenant()
        .anonymous()
        .refused(400, 'token: invalid or expired', ({ auth }) =>
          auth.invitations.decline({ body: { token: unknownToken } }),
        ));
  });

  it('409 for an invitation that is decided', async () => {
    const { tenant, ada, orgId } = await organized(api);
    const charles = await tenant.withUser();
    const { invitations } = ada.plinth.auth;
    const { id } = await invitations.create({ orgId, body: { email: charles.email } });
    const token = await tokenTo(tenant, charles.email);
    await invitations.decline({ body: { token } });
    const message = 'invitation already declined';
    await charles.refused(409, message, ({ auth }) => auth.invitations.accept({ body: { token } }));
    await charles.refused(409, message, ({ auth }) => auth.invitations.decline({ body: { token } }));
    await ada.refused(409, message, ({ auth }) => auth.invitations.revoke({ orgId, invitationId: id }));
  });
});
