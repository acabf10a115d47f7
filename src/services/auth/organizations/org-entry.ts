import type { Organization, OrgRole } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { covers } from '../../../http/caller.ts';
import type { Context } from '../../../http/context.ts';
import { Conflict, NotFound } from '../../../lib/errors.ts';
import type { KnownApp } from '../directory/directory.ts';
import { ByInvitation, InsufficientRole, MissingScope } from '../errors.ts';
import type { Sight } from './members.store.ts';
import { judge, type Need, type Standing } from './org-access.ts';
import { organizationStore } from './organizations.store.ts';
import type { Write } from '../directory/writes.ts';

/** Maximum number of members of an organization. */
const mostMembers = 1_000_000;

/** An organization that the caller has access to, and the caller's standing in it. */
export interface Entry {
  readonly organization: Organization;
  readonly standing: Standing;
}

/** The user who calls in person: keys and clients act for nobody in an organization. */
export const userOf = ({ credential, userId }: Context): string | null =>
  credential.kind === 'session' || credential.kind === 'root' ? userId : null;

/** Returns the organization if the caller may read at least as this role. @throws NotFound, Forbidden */
export const enterToRead = (
  sql: Sql,
  context: Context,
  app: KnownApp,
  orgId: string,
  role: OrgRole = 'member',
): Promise<Entry> => enter(sql, context, app, orgId, { role, scope: 'auth:read' }, 'find');

/** Returns the organization, locked until the transaction ends, if the caller may change it as this role. @throws NotFound, Forbidden */
export const enterToWrite = (
  { sql }: Pick<Write, 'sql'>,
  context: Context,
  app: KnownApp,
  orgId: string,
  role: OrgRole,
): Promise<Entry> => enter(sql, context, app, orgId, { role, scope: 'auth:write' }, 'lock');

/**
 * Returns the organization, locked, if the caller may add a member without an invitation: only the app's administration may;
 * other members come by invitation. @throws NotFound, Forbidden
 */
export async function enterToAdd(
  tx: Pick<Write, 'sql'>,
  context: Context,
  app: KnownApp,
  orgId: string,
): Promise<Entry> {
  const entry = await enterToWrite(tx, context, app, orgId, 'admin');
  if (!context.holds('auth:write')) throw ByInvitation(orgId);
  return entry;
}

/** The addresses that the caller sees: all for a reader of the app's accounts, the invited ones for a manager of the organization. */
export const sightOf = (context: Context, { role, reads }: Standing): Sight => ({
  all: context.holds('auth:read'),
  invited: reads || role === 'admin' || role === 'owner',
  self: userOf(context),
});

/** Whether the caller holds the scope in this organization: in the whole app, or by a role in it while it is the active one. */
export const holdsIn = (context: Context, orgId: string, scope: string): boolean =>
  context.holds(scope) || (context.session?.orgId === orgId && covers(context.session.orgScopes, scope));

/** @throws Forbidden if the caller's role is insufficient */
export function checkMayAct(standing: Standing, role: OrgRole): void {
  refuse(standing, { role, scope: 'auth:write' });
}

/** @throws Conflict if the organization is full */
export function checkRoom({ member_count }: Organization): void {
  if (member_count >= mostMembers) throw Conflict(`limit reached: ${mostMembers} members`);
}

/** The role is read after the organization is locked, so a caller who was demoted meanwhile is refused. */
async function enter(
  sql: Sql,
  context: Context,
  app: KnownApp,
  orgId: string,
  need: Need,
  how: 'find' | 'lock',
): Promise<Entry> {
  const userId = userOf(context);
  const stranger: Standing = {
    isUser: userId !== null,
    role: null,
    reads: holdsIn(context, orgId, 'auth:read'),
    writes: holdsIn(context, orgId, 'auth:write'),
  };
  if (userId === null) refuse(stranger, need);
  const store = organizationStore(sql);
  const organization = await store[how](app.tenant, app.id, orgId);
  if (!organization) throw NotFound('organization');
  const role = userId === null ? null : await store.roleOf(app.tenant, orgId, userId);
  const standing = { ...stranger, role };
  refuse(standing, need);
  return { organization, standing };
}

function refuse(standing: Standing, need: Need): void {
  const verdict = judge(standing, need);
  if (verdict === 'hidden') throw NotFound('organization');
  if (verdict === 'role') throw InsufficientRole(need.role);
  if (verdict === 'scope') throw MissingScope(need.scope);
}
