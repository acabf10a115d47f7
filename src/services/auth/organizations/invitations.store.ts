import type { Invitation, InvitationStatus, OrgRole } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { NotFound } from '../../../lib/errors.ts';

export interface NewInvitation extends Pick<Invitation, 'id' | 'org_id' | 'email' | 'role' | 'invited_by'> {
  readonly tenant_id: string;
  readonly token_hash: Buffer;
}

/** Every statement about invitations. */
export const invitationStore = (sql: Sql) => ({
  async insert(invitation: NewInvitation): Promise<Invitation> {
    const [inserted] = await sql<[Invitation]>`
      insert into auth.invitations (id, tenant_id, org_id, email, role, invited_by, token_hash, expires_at)
      values (
        ${invitation.id}, ${invitation.tenant_id}, ${invitation.org_id}, ${invitation.email}, ${invitation.role},
        ${invitation.invited_by}, ${invitation.token_hash}, now() + interval '168 hours'
      )
      returning ${columns(sql)}`;
    return inserted;
  },

  /** Returns the role of the address's pending invitation. */
  async pendingRole(tenant: string, orgId: string, email: string): Promise<OrgRole | undefined> {
    const [pending] = await sql<{ role: OrgRole }[]>`
      select role from auth.invitations
      where tenant_id = ${tenant} and org_id = ${orgId} and email = ${email} and status = 'pending' and ${isOpen(sql)}`;
    return pending?.role;
  },

  /** Revokes the user's pending invitations, except those to these roles. */
  async revokeBeyond(
    tenant: string,
    orgId: string,
    userId: string,
    roles: readonly OrgRole[],
  ): Promise<void> {
    await sql`
      update auth.invitations set status = 'revoked'
      where tenant_id = ${tenant} and invited_by = ${userId} and org_id = ${orgId} and status = 'pending'
        and ${isOpen(sql)} and not role = any(${[...roles]}::text[])`;
  },

  /** Revokes earlier invitations to the address. */
  async revokePending(tenant: string, orgId: string, email: string): Promise<void> {
    await sql`
      update auth.invitations set status = case when ${isOpen(sql)} then 'revoked' else 'expired' end
      where tenant_id = ${tenant} and org_id = ${orgId} and email = ${email} and status = 'pending'`;
  },

  async get(tenant: string, orgId: string, id: string): Promise<Invitation> {
    const [invitation] = await sql<Invitation[]>`
      select ${columns(sql)}
      from auth.invitations
      where tenant_id = ${tenant} and org_id = ${orgId} and id = ${id}`;
    if (!invitation) throw NotFound('invitation');
    return invitation;
  },

  /** Returns the invitation with this token, and the app of its organization. */
  async findByToken(tenant: string, hash: Buffer): Promise<(Invitation & { app_id: string }) | undefined> {
    const [invitation] = await sql<(Invitation & { app_id: string })[]>`
      select ${columns(sql)}, organizations.app_id
      from auth.invitations
      join auth.organizations
        on organizations.tenant_id = invitations.tenant_id and organizations.id = invitations.org_id
      where invitations.tenant_id = ${tenant} and invitations.token_hash = ${hash}`;
    return invitation;
  },

  /** Lists the newest first; returns one more than `limit` when more follow. */
  async list(
    tenant: string,
    orgId: string,
    { status }: { readonly status: InvitationStatus | undefined },
    window: Window,
  ): Promise<Invitation[]> {
    return await sql<Invitation[]>`
      select ${columns(sql)}
      from auth.invitations
      where tenant_id = ${tenant} and org_id = ${orgId}
        ${status === undefined ? sql`` : sql`and ${statusNow(sql)} = ${status}`}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  /** Decides a pending invitation; returns false if it is not pending. Of several concurrent calls only one succeeds. */
  async decide(
    tenant: string,
    id: string,
    status: Extract<InvitationStatus, 'accepted' | 'declined' | 'revoked'>,
  ): Promise<boolean> {
    const { count } = await sql`
      update auth.invitations set status = ${status}
      where tenant_id = ${tenant} and id = ${id} and status = 'pending' and ${isOpen(sql)}`;
    return count > 0;
  },
});

const isOpen = (sql: Sql) => sql`(invitations.expires_at > now())`;

/** A pending invitation expires with time, without an update of its row. */
const statusNow = (sql: Sql) => sql`
  case when invitations.status = 'pending' and not ${isOpen(sql)} then 'expired' else invitations.status end`;

const columns = (sql: Sql) => sql`
  invitations.id, invitations.org_id, invitations.email, invitations.role, ${statusNow(sql)} as status,
  invitations.invited_by, invitations.expires_at, invitations.created_at`;
