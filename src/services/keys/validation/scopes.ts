/**
 * Coverage of scopes (5.5): a held scope covers itself, `*` covers all, and `a:*` covers `a:` and everything below it. Names do
 * not inherit: `read` does not cover `read:users`.
 */
export interface HeldScopes {
  readonly names: readonly string[];
  readonly covers: (scope: string) => boolean;
}

/** The fourteen services: a scope that starts with one of these names gives access to a part of the platform. */
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

/** Prepares the scopes of a key once, so that a question costs one set lookup per colon in it. */
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

/** Whether every required scope is covered. An empty list is always covered. */
export function coversAll(held: HeldScopes, required: readonly string[]): boolean {
  for (const scope of required) if (!held.covers(scope)) return false;
  return true;
}

/**
 * Whether a scope is a credential of the platform (5.9): `*`, or its first part is a service's name. Only a caller whose own
 * scopes cover such a scope may put it on a key; all other names belong to the tenant.
 */
export function isGuarded(scope: string): boolean {
  if (scope === '*') return true;
  const colon = scope.indexOf(':');
  return services.has(colon === -1 ? scope : scope.slice(0, colon));
}

/** Returns the guarded scopes in `scopes` that the caller does not hold, in order. An empty result means that the caller may grant them. */
export function exceeding(scopes: readonly string[], holds: (scope: string) => boolean): string[] {
  return scopes.filter((scope) => isGuarded(scope) && !holds(scope));
}
