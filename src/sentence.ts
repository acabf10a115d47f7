import { DirectoryInUse } from './db/directory-lock.ts';
import { isConnectionError } from './db/errors.ts';
import { MasterKeyError } from './db/master-key.ts';
import { MigrationError } from './db/migrate.ts';
import { ListenError } from './http/listen.ts';
import { DomainError } from './lib/errors.ts';
import { SettingError } from './lib/settings.ts';
import { WorkerEnded } from './workers.ts';

/** A command line that cannot be followed. */
export class UsageError extends Error {}

/** What the operator is told: a sentence for what they can set right, the stack for what nobody expected. */
export function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // What the database says to clients is wrapped around what it met.
  if (error instanceof DomainError && error.cause instanceof Error) return sentence(error.cause);
  const { code = '', path } = error as NodeJS.ErrnoException;
  if (code.startsWith('ERR_PARSE_ARGS')) return `${error.message.split('. ')[0]}. See --help.`;
  if (path !== undefined && unusable.has(code))
    return `${path} cannot be used (${code}). Choose another data directory with --data or PLINTH_DATA_DIR.`;
  if (isConnectionError(error)) return `The database of DATABASE_URL cannot be reached (${code}).`;
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
  ListenError,
  UsageError,
  WorkerEnded,
];

/** What a path can be at fault for. */
const unusable = new Set(['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR', 'ENOSPC', 'EDQUOT']);

/** Wrong user or password, no such database, no right to it. */
const refusals = /^(28...|3D000|42501)$/;
