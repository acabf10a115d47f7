import { toDomainError } from '../../db/errors.ts';
import { DomainError, Unavailable } from '../../lib/errors.ts';

/** Milliseconds that a decision waits for a model to be loaded. */
export const LOAD_DEADLINE = 5_000;
/** Milliseconds that a decision waits for the database to say what is new. */
export const VALIDATION_DEADLINE = 1_000;

/** The result if it comes in time; whatever keeps it from coming means that the store is away. */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(Unavailable('store unavailable')), milliseconds);
  try {
    return await Promise.race([work, promise]);
  } catch (error) {
    const known = toDomainError(error);
    throw known instanceof DomainError ? known : Unavailable('store unavailable', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
