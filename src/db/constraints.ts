import postgres from 'postgres';
import type { DomainError } from '../lib/errors.ts';

/** Maps a constraint's name to the error for its violation: `{ roles_slug_key: () => Conflict('role slug already exists') }`. */
export type Constraints = Record<string, () => DomainError>;

/**
 * Awaits a statement and turns the violation of a named constraint (unique, check, foreign key, not null, exclusion) into the
 * error that `constraints` gives. Other errors pass unchanged. A violation aborts the transaction it happens in.
 */
export async function constrained<T>(constraints: Constraints, statement: PromiseLike<T>): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    throw violation(error, constraints) ?? error;
  }
}

/** Converts an error that was already caught; returns undefined when it violates none of these constraints. */
export function violation(error: unknown, constraints: Constraints): DomainError | undefined {
  if (!(error instanceof postgres.PostgresError) || !error.code.startsWith('23')) return undefined;
  return Object.hasOwn(constraints, error.constraint_name ?? '')
    ? constraints[error.constraint_name ?? '']?.()
    : undefined;
}
