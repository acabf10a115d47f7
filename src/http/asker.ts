import type { Caller } from './caller.ts';
import type { Context } from './context.ts';
import { root } from './credentials.ts';

/**
 * Who asks another service, and in which request. Every `Context` is an asker: the other service is then asked as the caller,
 * with the caller's tenant, app, user and rights. The functions below ask with the rights of the platform itself.
 */
export type Asker = Pick<Context, 'caller' | 'requestId' | 'ip' | 'userAgent' | 'signal'>;

/** The request on whose behalf to ask. Background work has only an id, under which the log shows its course. */
type Occasion = Pick<Asker, 'requestId'> & Partial<Pick<Asker, 'ip' | 'userAgent' | 'signal'>>;

/**
 * Asks as the operator: with every right, across all tenants. Use it only where the request names no tenant of its own or where
 * the answer concerns the whole platform.
 */
export const asOperator = (occasion: Occasion): Asker => askerOf(root, occasion);

/** The tenant and the app in which the platform acts, and the person on whose behalf it acts. */
export interface Place {
  readonly tenant: string;
  readonly app: string;
  /** Who is recorded as the author; by default `root`. */
  readonly actor?: string;
  readonly userId?: string | null;
  readonly subjectId?: string | null;
}

/**
 * Asks as the platform, with every right inside one tenant and app and none outside: for what a caller causes without needing a
 * right of their own, such as a permission check, and for work in the background. A `Context` is a place and an occasion.
 */
export function withinTenant(given: Place & Occasion): Asker {
  const { tenant, app, actor = root.actor, userId = null, subjectId = null } = given;
  return askerOf({ ...root, tenant, app, actor, userId, subjectId, confined: true }, given);
}

/** The members are read one by one: those of a `Context` are getters, which no copy of an object includes. */
function askerOf(
  caller: Caller,
  { requestId, ip = '127.0.0.1', userAgent = null, signal = never }: Occasion,
): Asker {
  return { caller, requestId, ip, userAgent, signal };
}

const never = new AbortController().signal;
