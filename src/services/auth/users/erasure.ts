import type { User } from '../../../../generated/auth/types.ts';
import { erasureStore } from './erasure.store.ts';
import { memberStore } from '../organizations/members.store.ts';
import { organizationStore } from '../organizations/organizations.store.ts';
import { endSessions, endSessionsOfUser } from '../sessions/revocations.ts';
import type { Write } from '../directory/writes.ts';

/**
 * Erases an account with all its data. It is never refused: organizations where the user is alone are deleted, and where the user
 * is the last owner among several members, another member becomes one. `user` is locked already.
 */
export async function eraseUser(write: Write, { id, email, phone }: User): Promise<void> {
  const { sql, tenant, app, changed, emit } = write;
  const store = erasureStore(sql);
  await leaveOrganizations(write, id);
  await endSessionsOfUser(write, id, 'erased');
  await endSessions(write, await store.impersonationsBy(tenant, id), 'erased');
  await store.forgetEvents(tenant, id);
  await store.deleteSessions(tenant, id);
  await store.deleteMessages(tenant, app, id, [email, phone]);
  await store.deleteInvitations(tenant, app, id, email);
  await store.deleteBelongings(tenant, id);
  await store.deleteUser(tenant, app, id);
  changed('user', id, 'refuse');
  emit('user.deleted', id, { user_id: id });
}

async function leaveOrganizations({ sql, tenant, emit }: Write, userId: string): Promise<void> {
  const store = erasureStore(sql);
  for (const { org_id, alone, last_owner } of await store.lockOrganizations(tenant, userId)) {
    if (alone) {
      await organizationStore(sql).endRoles(tenant, org_id, null);
      await organizationStore(sql).delete(tenant, org_id);
      emit('auth.organization.deleted', org_id, { org_id });
      continue;
    }
    if (last_owner) {
      const heir = await store.passOwnership(tenant, org_id, userId);
      emit('auth.organization.member_updated', org_id, { org_id, ...heir, role: 'owner' });
    }
    await memberStore(sql).delete(tenant, org_id, userId);
    emit('auth.organization.member_removed', org_id, { org_id, user_id: userId });
  }
}
