import { toDomainError } from '../../db/errors.ts';
import { DomainError, StoreUnavailable } from '../../lib/errors.ts';

/** Milliseconds that a decision waits for a model to load. */
export const loadDeadlineMs = 5_000;
/** Milliseconds that a decision waits for the database to report what is new. */
export const validationDeadlineMs = 1_000;

/**
 * Returns the result if it arrives in time.
 * @throws StoreUnavailable on a timeout and on any failure that is not a domain error
 */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(StoreUnavailable()), milliseconds);
  try {
    return await Promise.race([work, promise]);
  } catch (error) {
    const known = toDomainError(error);
    throw known instanceof DomainError ? known : StoreUnavailable({ cause: error });
  } finally {
    clearTimeout(timer);
  }
}
