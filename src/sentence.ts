import { DirectoryInUse } from './db/directory-lock.ts';
import { DiskFull } from './db/disk-space.ts';
import { isConnectionError } from './db/errors.ts';
import { MasterKeyError } from './db/master-key.ts';
import { MigrationError } from './db/migrate.ts';
import { ListenError } from './http/listen.ts';
import { DomainError } from './lib/errors.ts';
import { SettingError } from './lib/settings.ts';
import { WorkerEnded } from './workers.ts';

/** An invalid command line. */
export class UsageError extends Error {}

/** The text for the operator: a sentence for a problem that the operator can fix, the stack for an unexpected error. */
export function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // An error for clients wraps the original error of the database.
  if (error instanceof DomainError && error.cause instanceof Error) return sentence(error.cause);
  const { code = '', path } = error as NodeJS.ErrnoException;
  if (code.startsWith('ERR_PARSE_ARGS')) return `${error.message.split('. ')[0]}. See --help.`;
  if (path !== undefined && unusable.has(code))
    return `${path} cannot be used (${code}). Choose another data directory with --data or PLINTH_DATA_DIR.`;
  if (isConnectionError(error))
    return `The database of DATABASE_URL cannot be reached (${code}). Start it, or correct the address.`;
  if (error.name === 'PostgresError' && refusals.test(code))
    return `The database of DATABASE_URL refuses: ${error.message}.`;
  return expected.some((kind) => error instanceof kind)
    ? `${error.message.replace(/\.$/, '')}.`
    : (error.stack ?? error.message);
}

const expected = [
  SettingError,
  MigrationError,
  MasterKeyError,
  DirectoryInUse,
  DiskFull,
  ListenError,
  UsageError,
  WorkerEnded,
];

/** Error codes for which a path is at fault. */
const unusable = new Set(['ENOENT', 'EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR', 'ENOSPC', 'EDQUOT']);

/** PostgreSQL error codes for a wrong user or password, an unknown database, and a missing privilege. */
const refusals = /^(28...|3D000|42501)$/;
