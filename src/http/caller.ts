import type { CallerSession, Credential } from './context.ts';

/** Who calls, as far as the credential and the identity headers tell; the same for many requests. */
export interface Caller {
  readonly tenant: string;
  readonly app: string;
  readonly actor: string;
  readonly userId: string | null;
  readonly subjectId: string | null;
  readonly credential: Credential;
  readonly session: CallerSession | null;
  readonly scopes: readonly string[];
  /** True when a header chose the tenant: then even the operator's credential sees that tenant only. */
  readonly confined: boolean;
}

/** What a public operation sees when nobody says who they are. */
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

/** Whether `held` covers `scope`: itself, `*`, `a:*` for everything below `a:`, or `*:b` for `b` of everything. */
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
