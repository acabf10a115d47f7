import { createConnection, type Socket } from 'node:net';
import type { Connect } from './lanes.ts';

/** Milliseconds after which a statement, a connection or an attempt to connect is given up. */
export interface Limits {
  readonly connect: number;
  /** The server's own limit for one statement. */
  readonly statement: number;
  /** A connection that says nothing for this long is taken for dead: longer than any statement may run. */
  readonly silence: number;
  /** What closing waits for: statements in flight, and connections that postgres.js goes on making to a server that is away. */
  readonly close: number;
}

export const standard: Limits = { connect: 5_000, statement: 15_000, silence: 20_000, close: 5_000 };
/** For migrations, which take as long as they take. */
export const unlimited: Limits = { connect: 5_000, statement: 0, silence: 0, close: 5_000 };

/** A database that is back is used at once, and one that is away is not asked more than a few times a second. */
const backoff = () => 0.1 + Math.random() * 0.1;

/** Settings of postgres.js for connections that give up in time, whatever becomes of the server. */
export function serverOptions(max: number, limits: Limits, socket = serverConnect(limits)) {
  return {
    max,
    socket,
    connect_timeout: limits.connect / 1000,
    backoff,
    connection: {
      application_name: 'plinth',
      TimeZone: 'UTC',
      DateStyle: 'ISO',
      statement_timeout: String(limits.statement),
      idle_in_transaction_session_timeout: String(limits.statement * 2),
    },
  };
}

/** Where postgres.js was told to connect to. */
export interface ServerTarget {
  readonly host: string[];
  readonly port: number[];
  readonly path?: string | false;
  readonly ssl?: unknown;
}

/**
 * Makes the sockets of a pool. Of several hosts in the URL the next one is tried when one fails. A socket is returned before it is
 * connected, because postgres.js never again uses a connection whose socket could not be made. With TLS the limit for silence is
 * left to the operating system: the socket below does not see what the encrypted one hears.
 */
export function serverConnect(limits: Limits): Connect<ServerTarget> {
  let failures = 0;
  return ({ host, port, path, ssl }) => {
    const index = failures % host.length;
    const place = path
      ? { path }
      : { host: host[index] ?? 'localhost', port: port[index] ?? port[0] ?? 5432 };
    const socket = createConnection({ ...place, noDelay: true, timeout: limits.connect });
    socket.once('connect', () => socket.setTimeout(ssl ? 0 : limits.silence));
    socket.once('timeout', () =>
      socket.destroy(Object.assign(new Error('no answer from the database'), { code: 'ETIMEDOUT' })),
    );
    socket.once('error', () => failures++);
    return endingLate(socket);
  };
}

/**
 * Says that the socket has failed one turn of the event loop later, error and end together. postgres.js writes in the next turn what
 * it is given in this one; a socket that ends in between leaves it with a connection that never writes again.
 */
function endingLate(socket: Socket): Socket {
  const emit: (event: string, ...values: unknown[]) => boolean = socket.emit.bind(socket);
  let failure: unknown;
  socket.emit = (event: string, ...values: unknown[]) => {
    if (event === 'error') failure = values[0];
    else if (event !== 'close') return emit(event, ...values);
    else
      setImmediate(() => {
        if (failure !== undefined) emit('error', failure);
        emit('close', ...values);
      });
    return true;
  };
  return socket;
}
