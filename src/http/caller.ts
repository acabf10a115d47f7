import type { CallerSession, Credential } from './context.ts';

/** The caller, as the credential and the identity headers identify it; many requests may share one object. */
export interface Caller {
  readonly tenant: string;
  readonly app: string;
  readonly actor: string;
  readonly userId: string | null;
  readonly subjectId: string | null;
  readonly credential: Credential;
  readonly session: CallerSession | null;
  readonly scopes: readonly string[];
  /** True when an identity header chose the tenant: then even the operator's credential sees that tenant only. */
  readonly confined: boolean;
}

/** The caller of a request without a credential, as a public operation sees it. */
export const nobody: Caller = Object.freeze({
  tenant: 'default',
  app: 'default',
  actor: 'anonymous',
  userId: null,
  subjectId: null,
  credential: Object.freeze({ kind: 'anonymous', id: 'anonymous' }),
  session: null,
  scopes: Object.freeze([]),
  confined: true,
});

/** Whether the caller is root: by the root token, or, in development, by having no credential. `nobody` is not root. */
export const isRoot = (caller: Caller): boolean =>
  caller !== nobody && (caller.credential.kind === 'root' || caller.credential.kind === 'anonymous');

/** Whether `held` contains `scope` itself, `*`, `a:*` (everything below `a:`) or `*:b` (`b` of every service) that covers it. */
export function covers(held: readonly string[], scope: string): boolean {
  return held.some(
    (one) =>
      one === scope ||
      one === '*' ||
      (one.endsWith(':*') && scope.startsWith(one.slice(0, -1))) ||
      (one.startsWith('*:') &&
        scope.indexOf(':') === scope.length - one.length + 1 &&
        scope.endsWith(one.slice(1))),
  );
}
