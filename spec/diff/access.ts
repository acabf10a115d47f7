/** Who may call an operation, by credentials that tell the access levels apart. */
import type { Operation, Requirement } from './document.ts';

/** Credential → the access levels that admit it, as `src/http/access.ts` decides. No scope includes another. */
const admitted: Readonly<Record<string, readonly string[]>> = {
  'no credentials': ['public'],
  'an API key without scopes': ['public', 'any', 'key'],
  'a user without scopes': ['public', 'any', 'user'],
  'an API key with read': ['public', 'any', 'key', 'read'],
  'a user with read': ['public', 'any', 'user', 'read'],
  'an API key with write': ['public', 'any', 'key', 'write'],
  'a user with write': ['public', 'any', 'user', 'write'],
  'an API key with admin': ['public', 'any', 'key', 'admin'],
  'a user with admin': ['public', 'any', 'user', 'admin'],
  'the operator': ['public', 'any', 'read', 'write', 'admin', 'operator'],
};

/** Returns a credential that could call the operation and no longer can. */
export function shutOut(before: Operation, after: Operation): string | undefined {
  return Object.keys(admitted).find(
    (credential) =>
      admitted[credential]?.includes(before.access) && !admitted[credential].includes(after.access),
  );
}

/**
 * Returns a way to authenticate that sufficed and no longer does. An API key stands for no user, so it never sufficed for an
 * operation that needs a user, whatever the document said.
 */
export function lostScheme(before: Operation, after: Operation): string | undefined {
  const needsUser = before.access === 'user';
  // An empty list means that no credentials are needed.
  const ways = before.security.length === 0 ? [{}] : before.security;
  const lost = ways.find(
    (way) => !(needsUser && 'ApiKeyAuth' in way) && !after.security.some((other) => suffices(way, other)),
  );
  if (!lost || after.security.length === 0) return undefined;
  return Object.keys(lost).join(' and ') || 'no credentials';
}

/** Whether credentials that satisfy the first requirement satisfy the other. */
const suffices = (way: Requirement, other: Requirement): boolean =>
  Object.entries(other).every(([scheme, scopes]) => {
    const held = way[scheme];
    return held !== undefined && scopes.every((scope) => held.includes(scope));
  });
