import type { Invitation, InvitationStatus } from '../../../generated/auth/types.ts';
import type { Sql } from '../../db/index.ts';
import type { Place, Window } from '../../http/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import { isAfter } from './lists.store.ts';

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

  /** What was sent to the address before is void. */
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

  /** The invitation that the token is of, and the app of its organization. */
  async findByToken(tenant: string, hash: Buffer): Promise<(Invitation & { app_id: string }) | undefined> {
    const [invitation] = await sql<(Invitation & { app_id: string })[]>`
      select ${columns(sql)}, organizations.app_id
      from auth.invitations
      join auth.organizations
        on organizations.tenant_id = invitations.tenant_id and organizations.id = invitations.org_id
      where invitations.tenant_id = ${tenant} and invitations.token_hash = ${hash}`;
    return invitation;
  },

  /** Newest first; one more than `limit` when more follow. */
  async list(
    tenant: string,
    orgId: string,
    { limit, after, status }: Window<Place> & { readonly status: InvitationStatus | undefined },
  ): Promise<Invitation[]> {
    return await sql<Invitation[]>`
      select ${columns(sql)}
      from auth.invitations
      where tenant_id = ${tenant} and org_id = ${orgId}
        ${status === undefined ? sql`` : sql`and ${statusNow(sql)} = ${status}`}
        ${after === null ? sql`` : isAfter(sql, 'invitations', after)}
      order by created_at desc, id
      limit ${limit + 1}`;
  },

  /** Decides an invitation that waits for it; false where it does not. One of many who try at once succeeds. */
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

/** Time decides too, without anybody writing it down. */
const statusNow = (sql: Sql) => sql`
  case when invitations.status = 'pending' and not ${isOpen(sql)} then 'expired' else invitations.status end`;

const columns = (sql: Sql) => sql`
  invitations.id, invitations.org_id, invitations.email, invitations.role, ${statusNow(sql)} as status,
  invitations.invited_by, invitations.expires_at, invitations.created_at`;
