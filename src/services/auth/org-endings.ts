import { memberStore } from './members.store.ts';
import { organizationStore } from './organizations.store.ts';
import type { Write } from './writes.ts';

/** Ends an organization with all that it gave to anybody. It is locked already. */
export async function endOrganization(write: Write, orgId: string): Promise<void> {
  await endRights(write, orgId, null);
  await organizationStore(write.sql).delete(write.tenant, orgId);
  write.emit('auth.organization.deleted', orgId, { org_id: orgId });
}

/** Ends a membership with all that the organization gave to the user. The organization is locked already. */
export async function endMembership(
  write: Write,
  { id, org_id, user_id }: { readonly id: string; readonly org_id: string; readonly user_id: string },
): Promise<void> {
  await endRights(write, org_id, user_id);
  await memberStore(write.sql).delete(write.tenant, org_id, user_id);
  write.emit('auth.organization.member_removed', org_id, { org_id, member_id: id, user_id });
}

/** Nobody acts in the organization any more, or one user does not. */
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
