import type { OrgRole } from '../../../generated/auth/types.ts';

/** What somebody is to an organization. */
export interface Standing {
  /** Whether a user calls; keys and clients never are members. */
  readonly isUser: boolean;
  /** The user's role as a member; null for those who are none. */
  readonly role: OrgRole | null;
  /** Whether the caller holds `auth:read`, and `auth:write`. */
  readonly reads: boolean;
  readonly writes: boolean;
}

/** What an operation asks for: at least this role as a member, or the scope. */
export interface Need {
  readonly role: OrgRole;
  readonly scope: 'auth:read' | 'auth:write';
}

/** What comes of it: `hidden` is answered like an organization that does not exist; the others name what is missing. */
export type Verdict = 'granted' | 'hidden' | 'role' | 'scope';

const ranks: Record<OrgRole, number> = { member: 1, admin: 2, owner: 3 };

/** Whether somebody may do something in an organization. */
export function judge({ isUser, role, reads, writes }: Standing, need: Need): Verdict {
  if (need.scope === 'auth:read' ? reads : writes) return 'granted';
  if (role !== null) return ranks[role] >= ranks[need.role] ? 'granted' : 'role';
  return isUser && !reads ? 'hidden' : 'scope';
}

/** The role that it takes to add or remove a member with this one: admins manage members, owners everybody. */
export const roleToManage = (role: OrgRole): OrgRole => (role === 'member' ? 'admin' : 'owner');

/** The role that it takes to invite somebody with this one: admins invite up to their own. */
export const roleToInvite = (role: OrgRole): OrgRole => (role === 'owner' ? 'owner' : 'admin');
