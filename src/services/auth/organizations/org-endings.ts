import type { OrgRole } from '../../../../generated/auth/types.ts';
import { invitationStore } from './invitations.store.ts';
import { memberStore } from './members.store.ts';
import { rolesToInvite } from './org-access.ts';
import { organizationStore } from './organizations.store.ts';
import type { Write } from '../directory/writes.ts';

/** Ends an organization with all rights that it gave. The caller has locked it. */
export async function endOrganization(write: Write, orgId: string): Promise<void> {
  await endRights(write, orgId, null);
  await organizationStore(write.sql).delete(write.tenant, orgId);
  write.emit('auth.organization.deleted', orgId, { org_id: orgId });
}

/** Ends a membership with all rights that the organization gave to the user. The caller has locked the organization. */
export async function endMembership(
  write: Write,
  { id, org_id, user_id }: { readonly id: string; readonly org_id: string; readonly user_id: string },
): Promise<void> {
  await endRights(write, org_id, user_id);
  await endInvitationsBy(write, org_id, user_id, null);
  await memberStore(write.sql).delete(write.tenant, org_id, user_id);
  write.emit('auth.organization.member_removed', org_id, { org_id, member_id: id, user_id });
}

/** Voids the user's invitations to roles that they can no longer invite to: `role` is their current role, or null. */
export const endInvitationsBy = (
  { sql, tenant }: Pick<Write, 'sql' | 'tenant'>,
  orgId: string,
  userId: string,
  role: OrgRole | null,
): Promise<void> => invitationStore(sql).revokeBeyond(tenant, orgId, userId, rolesToInvite(role));

/** Ends the rights of one user in the organization, or of all users when `userId` is null. */
async function endRights(
  { sql, tenant, changed, emit }: Write,
  orgId: string,
  userId: string | null,
): Promise<void> {
  const store = organizationStore(sql);
  for (const { id } of await store.deactivate(tenant, orgId, userId)) changed('session', id);
  const lost = await store.endRoles(tenant, orgId, userId);
  for (const { user_id, role_id } of lost)
    emit('auth.role.unassigned', role_id, { user_id, role_id, org_id: orgId });
  for (const id of new Set(lost.map(({ user_id }) => user_id))) changed('user', id);
}
