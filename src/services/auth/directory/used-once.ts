import type { Database } from '../../../db/index.ts';
import { oidcStore } from './oidc.store.ts';
import { sha256 } from './tokens.ts';

/**
 * Records a use of a single-use value across all processes; resolves to false if it was used before. `kind` separates values of
 * different origin; `seconds` is how long the use is remembered.
 */
export type UsedOnce = (kind: string, id: string, seconds: number) => Promise<boolean>;

export const createUsedOnce =
  ({ sql }: Pick<Database, 'sql'>): UsedOnce =>
  (kind, id, seconds) =>
    oidcStore(sql).useOnce(sha256(`${kind} ${id}`), seconds);
