import type { S3Scope } from '../../../../generated/storage/types.ts';
import type { Context } from '../../../http/context.ts';
import { Forbidden } from '../../../lib/errors.ts';

/** What each scope allows. */
const rights: Readonly<Record<S3Scope, readonly S3Scope[]>> = {
  'storage:read': ['storage:read'],
  'storage:write': ['storage:write'],
  'storage:admin': ['storage:admin', 'storage:read', 'storage:write'],
};

/** Throws unless the creator of an access key holds every right that the key would have. */
export function checkScopes(scopes: readonly S3Scope[], creator: Pick<Context, 'holds'>): void {
  const missing = scopes.flatMap((scope) => rights[scope]).find((scope) => !creator.holds(scope));
  if (missing !== undefined) throw Forbidden(`missing scope ${missing}`);
}

/** Whether the scopes of an access key include a right. */
export const includesRight = (scopes: readonly S3Scope[], right: S3Scope): boolean =>
  scopes.some((scope) => rights[scope].includes(right));
