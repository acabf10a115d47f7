import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { measureStatement } from './statement-span.ts';
import { handedTo, handlerOf, repairResult, type Statement } from './statement.ts';
import type { Pool, Sql } from './sql.ts';

export type Connect<Target> = (target: Target) => Duplex;

/** One connection. It is opened for the first statement, and it is not replaced when it is lost. */
export interface Lane {
  readonly sql: Sql;
  /** Executes a statement that was created elsewhere. */
  readonly execute: (statement: Statement) => void;
  /** The number of statements that are not answered yet. */
  readonly inFlight: () => number;
  readonly born: number;
  /** Whether the connection is no longer usable. */
  readonly lost: () => boolean;
  /** Bytes sent over the connection and bytes received from it. */
  readonly traffic: () => { readonly sent: number; readonly heard: number };
  /** Cuts the connection: statements that wait for an answer fail at once. */
  readonly cut: (error: Error) => void;
  /** Ends the connection after the statements in flight, or after `waitMs` milliseconds. */
  readonly end: (waitMs: number) => Promise<void>;
}

/**
 * Opens a separate postgres.js pool that connects exactly once. A pool that reconnects cannot be used: inside a transaction a second
 * connection would continue in the middle of the transaction that the first one lost; outside of a transaction, a statement that
 * arrives while the first connection ends leaves a connection that never sends its startup message, until its connect timeout.
 */
export function openLane<Target>(create: (connect: Connect<Target>) => Pool, connect: Connect<Target>): Lane {
  let socket: Duplex | undefined;
  let failure: Error | undefined;
  const pool = create((target) => {
    if (socket !== undefined || failure !== undefined) return refused(failure ?? lostError());
    socket = connect(target);
    whenClosed(socket, () => void pool.end({ timeout: 0 }));
    return socket;
  });
  const handle = handlerOf(pool);
  let inFlight = 0;

  function execute(statement: Statement): void {
    // A cursor's rows do not settle the promise of its statement, so cursors are not counted.
    if (statement.cursorFn === undefined) {
      inFlight++;
      const done = () => void inFlight--;
      statement.then(done, done);
      measureStatement(statement);
      repairResult(statement);
    }
    handle(statement);
  }

  return {
    sql: handedTo(pool, execute),
    execute,
    inFlight: () => inFlight,
    born: performance.now(),
    lost: () => failure !== undefined || (socket !== undefined && (socket.destroyed || !socket.writable)),
    traffic: () =>
      socket instanceof Socket
        ? { sent: socket.bytesWritten, heard: socket.bytesRead }
        : { sent: 0, heard: 0 },
    cut(error) {
      failure ??= error;
      // With TLS nothing listens to errors of the underlying socket, and closing it is enough.
      socket?.destroy(socket.listenerCount('error') > 0 ? error : undefined);
    },
    // A lane that has lost its connection has nothing to wait for.
    end(waitMs) {
      return pool.end({ timeout: this.lost() ? 0 : waitMs / 1000 });
    },
  };
}

/**
 * Calls `fn` after all listeners have learned that the socket is closed. Statements that are then still queued in postgres.js would wait
 * for the next connection, or forever if they came between the error and the end of an encrypted socket. This wraps `emit` instead of
 * adding a listener, because postgres.js removes all listeners when it starts TLS.
 */
function whenClosed(socket: Duplex, fn: () => void): void {
  const emit: (event: string, ...values: unknown[]) => boolean = socket.emit.bind(socket);
  socket.emit = (event: string, ...values: unknown[]) => {
    if (event === 'close') setTimeout(fn, 10);
    return emit(event, ...values);
  };
}

const lostError = () => Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' });

function refused(error: Error): Socket {
  const socket = new Socket();
  setImmediate(() => socket.destroy(error));
  return socket;
}
