import type { Logger } from 'pino';

/** What the database module needs of a logger; a pino logger or one of its children. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
