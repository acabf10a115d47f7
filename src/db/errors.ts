import postgres from 'postgres';
import { DomainError, StoreFull, StoreUnavailable, Unavailable } from '../lib/errors.ts';

/**
 * Converts an error of the database for the caller: `StoreUnavailable` when it cannot be reached, `StoreFull` when its disk is full,
 * `Unavailable` when it is busy; every other error unchanged. `Database.transaction` and the HTTP runtime both use it.
 */
export function toDomainError(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  if (isConnectionError(error)) return StoreUnavailable({ cause: error });
  if (isDiskFull(error)) return StoreFull({ cause: error });
  if (isContention(error)) return Unavailable('store busy', { cause: error });
  return error;
}

/** Whether the connection failed and not the statement. Then it is unknown whether a commit in flight took place. */
export function isConnectionError(error: unknown): boolean {
  const code = codeOf(error);
  if (error instanceof postgres.PostgresError)
    return code.startsWith('08') || code.startsWith('57P') || code === '53300';
  return driver.has(code) || system.has(code);
}

const isDiskFull = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === '53100';

/** Whether the same transaction may succeed when it is run again: deadlock, lock or statement timeout, serialization failure. */
export function isContention(error: unknown): boolean {
  return error instanceof postgres.PostgresError && contention.has(error.code);
}

const driver = new Set(['CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'CONNECTION_ENDED', 'CONNECT_TIMEOUT']);
const system = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'EHOSTDOWN', 'ENOENT'],
]);
const contention = new Set(['40001', '40P01', '55P03', '57014', '25P03']);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
