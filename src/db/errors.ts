import postgres from 'postgres';
import { DomainError, Unavailable } from '../lib/errors.ts';

/**
 * What an error of the database means to a caller: `Unavailable` when the store cannot be reached or is overloaded, every
 * other error unchanged. The one place that decides it; `Database.transaction` and the HTTP runtime use it.
 */
export function toDomainError(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  if (isConnectionError(error)) return Unavailable('store unavailable', { cause: error });
  if (isContention(error)) return Unavailable('store busy', { cause: error });
  return error;
}

/** Whether the connection is at fault, not the statement. It is unknown then whether a commit in flight took place. */
export function isConnectionError(error: unknown): boolean {
  const code = codeOf(error);
  if (error instanceof postgres.PostgresError)
    return code.startsWith('08') || code.startsWith('57P') || code === '53300';
  return driver.has(code) || system.has(code);
}

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
