import { createConnection, type Socket } from 'node:net';
import type { Connect } from './lane.ts';

/** Milliseconds after which a statement, a connection or an attempt to connect is abandoned. */
export interface Limits {
  readonly connect: number;
  /** The server's own limit for one statement. */
  readonly statement: number;
  /** A connection that gives no answer for this long counts as dead; it must be longer than any statement may run. */
  readonly silence: number;
  /** A statement without an answer, or a transaction without a connection, fails after this time. */
  readonly wait: number;
  /** How long closing waits for statements in flight, and for connections that postgres.js still opens to an unreachable server. */
  readonly close: number;
}

/** Limits that give every caller an answer within five seconds, even when the database gives none. */
export const standard: Limits = {
  connect: 4_000,
  statement: 4_000,
  silence: 4_250,
  wait: 4_500,
  close: 5_000,
};
/** For migrations, whose statements have no time limit. */
export const unlimited: Limits = { ...standard, statement: 0 };

/** Settings of postgres.js for connections that give up in time, whatever happens to the server. */
export function serverOptions(max: number, limits: Limits, socket = serverConnect(limits)) {
  return {
    max,
    socket,
    connect_timeout: limits.connect / 1000,
    backoff: 0,
    connection: {
      application_name: 'plinth',
      TimeZone: 'UTC',
      DateStyle: 'ISO',
      // Compiling a statement of a few milliseconds takes a hundred times as long as executing it.
      jit: 'off',
      statement_timeout: String(limits.statement),
      idle_in_transaction_session_timeout: String(limits.statement * 4),
    },
  };
}

/** The address to which postgres.js was told to connect. */
export interface ServerTarget {
  readonly host: string[];
  readonly port: number[];
  readonly path?: string | false;
}

/**
 * Creates the sockets of a pool. When the URL has several hosts and one fails, the next one is tried. A socket is returned before it is
 * connected, because postgres.js never again uses a connection whose socket could not be created.
 */
export function serverConnect(limits: Limits): Connect<ServerTarget> {
  let failures = 0;
  return ({ host, port, path }) => {
    const index = failures % host.length;
    const place = path
      ? { path }
      : { host: host[index] ?? 'localhost', port: port[index] ?? port[0] ?? 5432 };
    const socket = createConnection({ ...place, noDelay: true, timeout: limits.connect });
    socket.once('connect', () => socket.setTimeout(0));
    socket.once('timeout', () =>
      socket.destroy(Object.assign(new Error('no answer from the database'), { code: 'ETIMEDOUT' })),
    );
    socket.once('error', () => failures++);
    return endingLate(socket);
  };
}

/**
 * Delays the socket's `error` and `close` events by one turn of the event loop and emits them together. postgres.js writes in the next
 * turn what it is given in this one; a socket that ends in between would leave a connection that never writes again.
 */
function endingLate(socket: Socket): Socket {
  const emit: (event: string, ...values: unknown[]) => boolean = socket.emit.bind(socket);
  let failure: unknown;
  socket.emit = (event: string, ...values: unknown[]) => {
    if (event === 'error') failure = values[0];
    else if (event !== 'close') return emit(event, ...values);
    else
      setImmediate(() => {
        if (failure !== undefined && socket.listenerCount('error') > 0) emit('error', failure);
        emit('close', ...values);
      });
    return true;
  };
  return socket;
}
