import pino, { type DestinationStream, type Logger } from 'pino';
import type { ServerResponse } from 'node:http';
import type { Exchange } from './exchange.ts';

export interface LogOptions {
  readonly level: string;
  /** For people at a terminal instead of JSON lines. */
  readonly readable: boolean;
  /** Where the lines go; standard output without it. */
  readonly destination?: DestinationStream;
}

/** The log: JSON lines on standard output, or readable ones. No line carries a credential, a body or a query string. */
export function createLog({ level, readable, destination }: LogOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
  };
  if (destination) return pino(options, destination);
  if (!readable) return pino(options, pino.destination({ sync: false, minLength: 4096, periodicFlush: 200 }));
  const pretty = {
    target: 'pino-pretty',
    options: { singleLine: true, translateTime: 'HH:MM:ss', ignore: 'pid,hostname' },
  };
  return pino({ ...options, transport: pretty });
}

/** One line per request, written when its answer is out or its client gone. */
export function logRequest(
  log: Logger,
  res: ServerResponse,
  path: string,
  method: string,
  exchange: Exchange,
): void {
  const { requestId, startedAt, operation, caller } = exchange;
  log.info(
    {
      requestId,
      method,
      path: masked(path).slice(0, 512),
      operation: operation && `${operation.service}.${operation.resource}.${operation.method}`,
      status: res.statusCode,
      ms: Math.round((performance.now() - startedAt) * 100) / 100,
      tenant: caller?.tenant,
      actor: caller?.actor,
      ip: exchange.ip,
      aborted: res.writableFinished ? undefined : true,
    },
    'request',
  );
}

/**
 * What the log says of an error: its type, code, message, stack and causes. Nothing else: errors of the database carry
 * statements with their values, errors of clients whole requests.
 */
export function describeError(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? masked(thrown) : typeof thrown;
  return {
    type: thrown.name,
    code: 'code' in thrown && typeof thrown.code !== 'object' ? thrown.code : undefined,
    message: masked(thrown.message),
    stack: thrown.stack && masked(thrown.stack),
    cause: thrown.cause === undefined ? undefined : describeError(thrown.cause),
  };
}

/** Raw API keys, bearer tokens and passwords in URLs, wherever a text repeats them. */
const secrets =
  /[A-Za-z0-9][A-Za-z0-9_-]{0,64}_[a-z][a-z0-9-]{0,31}_[0-9A-Za-z]{55}|(?<=bearer )\S+|(?<=:\/\/[^/\s:@]*:)[^/\s@]+(?=@)/gi;

export const masked = (text: string) => (text.length < 16 ? text : text.replaceAll(secrets, '[secret]'));
