import type { Organization, OrgRole } from '../../../generated/auth/types.ts';
import type { Sql } from '../../db/index.ts';
import type { Context } from '../../http/context.ts';
import { Conflict, NotFound } from '../../lib/errors.ts';
import type { KnownApp } from './directory.ts';
import { InsufficientRole, MissingScope } from './errors.ts';
import { judge, type Need, type Standing } from './org-access.ts';
import { organizationStore } from './organizations.store.ts';
import type { Write } from './writes.ts';

/** Members that an organization may have. */
const mostMembers = 1_000_000;

/** An organization that the caller may do something in, and what they are to it. */
export interface Entry {
  readonly organization: Organization;
  readonly standing: Standing;
}

/** The user that calls in person: keys and clients act for nobody in an organization. */
export const userOf = ({ credential, userId }: Context): string | null =>
  credential.kind === 'session' || credential.kind === 'root' ? userId : null;

/** The organization, for who may read at least as this role. @throws NotFound, Forbidden */
export const enterToRead = (
  sql: Sql,
  context: Context,
  app: KnownApp,
  orgId: string,
  role: OrgRole = 'member',
): Promise<Entry> => enter(sql, context, app, orgId, { role, scope: 'auth:read' }, 'find');

/** The organization, locked until the end of the transaction, for who may change it as this role. @throws NotFound, Forbidden */
export const enterToWrite = (
  { sql }: Pick<Write, 'sql'>,
  context: Context,
  app: KnownApp,
  orgId: string,
  role: OrgRole,
): Promise<Entry> => enter(sql, context, app, orgId, { role, scope: 'auth:write' }, 'lock');

/** @throws Forbidden where the caller's role is not enough. */
export function checkMayAct(standing: Standing, role: OrgRole): void {
  refuse(standing, { role, scope: 'auth:write' });
}

/** @throws Conflict where the organization is full. */
export function checkRoom({ member_count }: Organization): void {
  if (member_count >= mostMembers) throw Conflict(`limit reached: ${mostMembers} members`);
}

/** The role is read once the organization is locked: who was demoted meanwhile is too late. */
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
    reads: context.holds('auth:read'),
    writes: context.holds('auth:write'),
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
