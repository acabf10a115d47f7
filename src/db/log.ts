import type { Logger } from 'pino';

/** The part of a logger that the database module needs; a pino logger or one of its children. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
