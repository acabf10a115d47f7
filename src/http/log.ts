import pino, { type DestinationStream, type Logger } from 'pino';
import type { ServerResponse } from 'node:http';
import { logOutput } from './log-output.ts';
import type { Exchange } from './exchange.ts';
import type { Operation } from './operation.ts';

export interface LogOptions {
  readonly level: string;
  /** Whether to write lines for people at a terminal instead of JSON lines. */
  readonly readable: boolean;
  /** Where the lines go; standard output by default. */
  readonly destination?: DestinationStream;
}

/** Creates the log: JSON lines on standard output, or readable lines. No line carries a credential, a body or a query string. */
export function createLog({ level, readable, destination }: LogOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
  };
  if (destination) return pino(options, destination);
  if (!readable) return pino(options, logOutput(1));
  const pretty = {
    target: 'pino-pretty',
    options: { singleLine: true, translateTime: 'HH:MM:ss', ignore: 'pid,hostname' },
  };
  return pino({ ...options, transport: pretty });
}

/** Writes one line per request, when its response is sent or its client has disconnected. */
export function logRequest(
  log: Logger,
  res: ServerResponse,
  path: string,
  method: string,
  exchange: Exchange,
): void {
  if (!log.isLevelEnabled('info')) return;
  const { requestId, traceId, startedAt, operation, caller } = exchange;
  log.info(
    {
      requestId,
      traceId,
      method,
      path: pathOf(path, operation).slice(0, 512),
      operation: operation && `${operation.service}.${operation.resource}.${operation.method}`,
      status: res.statusCode,
      ms: Math.round((performance.now() - startedAt) * 100) / 100,
      tenant: caller?.tenant,
      actor: caller?.actor,
      ip: exchange.ip,
      aborted: res.writableFinished || res.statusCode === 101 ? undefined : true,
    },
    'request',
  );
}

/** In a public operation a path parameter may itself be the credential, so the log has only the parameter's name. */
export const mayCarryCredential = ({ access, path }: Pick<Operation, 'access' | 'path'>): boolean =>
  access === 'public' && path.includes('{');

const pathOf = (path: string, operation: Operation | undefined): string =>
  operation && mayCarryCredential(operation) ? operation.path : masked(path);

/**
 * Describes an error for the log: its type, code, message, stack and causes, and nothing else, because database errors carry
 * statements with their values, and errors of HTTP clients carry whole requests.
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

/** Matches raw API keys, session tokens, bearer tokens, and passwords in URLs, anywhere in a text. */
const secrets =
  /[A-Za-z0-9][A-Za-z0-9_-]{0,98}_[0-9A-Za-z]{55}|(?<=bearer )\S+|(?<=:\/\/[^/\s:@]*:)[^/\s@]+(?=@)/gi;

/** Most texts are short paths, which are too short for a token and hold neither a scheme nor a password. */
const mayHoldSecret = (text: string) => text.length > 56 || text.includes(' ') || text.includes('@');

export const masked = (text: string) => (mayHoldSecret(text) ? text.replaceAll(secrets, '[secret]') : text);
