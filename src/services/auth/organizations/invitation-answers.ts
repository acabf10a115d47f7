import type { Invitation, Member, Organization } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';
import { accountStore } from '../directory/accounts.store.ts';
import type { Deps } from '../factors/deps.ts';
import type { Directory, KnownApp } from '../directory/directory.ts';
import { InvalidToken, InvitationDecided, OtherAddress } from '../errors.ts';
import { invitationStore } from './invitations.store.ts';
import { memberStore } from './members.store.ts';
import { checkRoom } from './org-entry.ts';
import { organizationStore } from './organizations.store.ts';
import { readToken } from '../directory/tokens.ts';
import type { Write } from '../directory/writes.ts';

/** @throws Invalid if the text cannot be an invitation token */
export async function presentedInvitation(
  directory: Directory,
  text: string,
): Promise<{ tenant: string; hash: Buffer }> {
  const token = readToken('inv', text);
  const tenant = token && (await directory.tenantOf(token.tag));
  if (!token || tenant === undefined) throw InvalidToken();
  return { tenant, hash: token.hash };
}

/** An invitation that can be answered. */
export interface OpenInvitation extends Pick<Invitation, 'email' | 'role'> {
  readonly app: KnownApp;
  readonly organization: Organization;
  readonly hash: Buffer;
}

/** Returns the invitation that the token belongs to. @throws Invalid if it is over, Conflict if it is already decided */
export async function openInvitation({ db, directory }: Deps, text: string): Promise<OpenInvitation> {
  const { tenant, hash } = await presentedInvitation(directory, text);
  const invited = await invitationStore(db.sql).findByToken(tenant, hash);
  const app = invited && (await directory.app(invited.app_id));
  const organization = app && (await organizationStore(db.sql).find(tenant, app.id, invited.org_id));
  if (!organization || invited.status === 'expired') throw InvalidToken();
  if (invited.status !== 'pending') throw InvitationDecided(invited.status);
  return { app, organization, hash, email: invited.email, role: invited.role };
}

/** @throws Invalid if the invitation is over, Conflict if it is already decided */
export async function declineInvitation(
  { db, directory, write }: Pick<Deps, 'db' | 'directory' | 'write'>,
  text: string,
  actor: string,
): Promise<void> {
  const { tenant, hash } = await presentedInvitation(directory, text);
  const invited = await invitationStore(db.sql).findByToken(tenant, hash);
  if (!invited || !(await directory.app(invited.app_id))) throw InvalidToken();
  await write({ tenant, app: invited.app_id, actor }, ({ sql }) => decide(sql, tenant, hash, 'declined'));
}

/** Makes the user a member. The token proves access to the address's mail, so accepting verifies the address. */
export async function acceptInvitation(
  { sql, tenant, app, emit }: Write,
  hash: Buffer,
  userId: string,
): Promise<Member> {
  const invited = await invitationStore(sql).findByToken(tenant, hash);
  if (invited?.app_id !== app) throw InvalidToken();
  const { org_id, email, role } = invited;
  const user = await memberStore(sql).holdUser(tenant, app, userId);
  if (user?.email !== email) throw OtherAddress();
  const organization = await organizationStore(sql).lock(tenant, app, org_id);
  if (!organization) throw InvalidToken();
  await decide(sql, tenant, hash, 'accepted');
  checkRoom(organization);
  const id = newId('mem');
  const member = await memberStore(sql).insert(
    { id, tenant_id: tenant, org_id, user_id: userId, role },
    { all: false, invited: false, self: userId },
  );
  emit('auth.organization.member_added', org_id, { org_id, member_id: id, user_id: userId, role });
  await accountStore(sql).verifyEmail(tenant, app, userId, email);
  if (!user.email_verified) emit('user.email_verified', userId, { user_id: userId });
  return member;
}

/** @throws Invalid if the invitation is over, Conflict if it is already decided */
async function decide(
  sql: Sql,
  tenant: string,
  hash: Buffer,
  status: 'accepted' | 'declined',
): Promise<void> {
  const store = invitationStore(sql);
  const id = (await store.findByToken(tenant, hash))?.id;
  if (id !== undefined && (await store.decide(tenant, id, status))) return;
  const now = (await store.findByToken(tenant, hash))?.status ?? 'expired';
  throw now === 'expired' ? InvalidToken() : InvitationDecided(now);
}
