import type { OrgRole } from '../../../../generated/auth/types.ts';

/** The caller's relation to an organization. */
export interface Standing {
  /** Whether a user calls; keys and clients are never members. */
  readonly isUser: boolean;
  /** The user's role as a member; null for non-members. */
  readonly role: OrgRole | null;
  /** Whether the caller holds `auth:read`, and `auth:write`: in the whole app, or in this organization. */
  readonly reads: boolean;
  readonly writes: boolean;
}

/** The requirement of an operation: at least this role as a member, or the scope. */
export interface Need {
  readonly role: OrgRole;
  readonly scope: 'auth:read' | 'auth:write';
}

/** The result of a check: `hidden` is reported as if the organization did not exist; `role` and `scope` name what is missing. */
export type Verdict = 'granted' | 'hidden' | 'role' | 'scope';

const ranks: Record<OrgRole, number> = { member: 1, admin: 2, owner: 3 };

/** Whether the caller may do something in an organization. */
export function judge({ isUser, role, reads, writes }: Standing, need: Need): Verdict {
  if (need.scope === 'auth:read' ? reads : writes) return 'granted';
  if (role !== null) return ranks[role] >= ranks[need.role] ? 'granted' : 'role';
  return isUser && !reads ? 'hidden' : 'scope';
}

/** The role required to add or remove a member with this role: admins manage members, owners manage everybody. */
export const roleToManage = (role: OrgRole): OrgRole => (role === 'member' ? 'admin' : 'owner');

/** The role required to invite somebody with this role: admins invite up to their own role. */
export const roleToInvite = (role: OrgRole): OrgRole => (role === 'owner' ? 'owner' : 'admin');

/** The roles that a member with this role may invite to. */
export const rolesToInvite = (role: OrgRole | null): OrgRole[] =>
  (Object.keys(ranks) as OrgRole[]).filter(
    (invited) => role !== null && ranks[role] >= ranks[roleToInvite(invited)],
  );
