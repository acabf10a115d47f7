/**
 * Coverage of scopes (5.5): a held scope covers itself, `*` covers all, `a:*` covers `a:` and everything below it.
 * Names do not inherit: `read` says nothing about `read:users`.
 */
export interface HeldScopes {
  readonly names: readonly string[];
  readonly covers: (scope: string) => boolean;
}

/** The fourteen services: a scope that starts with one of these names opens a part of the platform. */
const services: ReadonlySet<string> = new Set([
  'auth',
  'authz',
  'keys',
  'safety',
  'billing',
  'webhooks',
  'jobs',
  'audit',
  'gateway',
  'control',
  'retrieval',
  'agents',
  'storage',
  'sync',
]);

/** Prepares the scopes of a key once, so that a question costs one set lookup for each colon in it. */
export function holdScopes(names: readonly string[]): HeldScopes {
  const held = new Set(names);
  const all = held.has('*');
  return {
    names,
    covers(scope) {
      if (all || held.has(scope)) return true;
      for (let colon = scope.indexOf(':'); colon !== -1; colon = scope.indexOf(':', colon + 1)) {
        if (held.has(`${scope.slice(0, colon)}:*`)) return true;
      }
      return false;
    },
  };
}

/** Whether every required scope is covered; nothing required is always covered. */
export function coversAll(held: HeldScopes, required: readonly string[]): boolean {
  for (const scope of required) if (!held.covers(scope)) return false;
  return true;
}

/**
 * Whether a scope is a credential of the platform (5.9): `*`, or the first part is a service's name. Such a scope may
 * be put on a key only by a caller whose own scopes cover it; all other names are the tenant's own.
 */
export function isGuarded(scope: string): boolean {
  if (scope === '*') return true;
  const colon = scope.indexOf(':');
  return services.has(colon === -1 ? scope : scope.slice(0, colon));
}

/** The guarded scopes among `scopes` that the caller does not hold, in their order; empty means the caller may give them. */
export function exceeding(scopes: readonly string[], holds: (scope: string) => boolean): string[] {
  return scopes.filter((scope) => isGuarded(scope) && !holds(scope));
}
