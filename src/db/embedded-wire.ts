import { Duplex } from 'node:stream';
import type { PGlite } from '@electric-sql/pglite';
import type { Log } from './log.ts';

/**
 * Lets many postgres.js connections share the one backend that PGlite is. Each connection is an in-process stream that
 * speaks the PostgreSQL protocol; no port or socket file exists, so nobody else can reach the database.
 *
 * A connection keeps the backend from its first message until the backend says "ready, not in a transaction". So neither
 * another connection's statement nor its error can fall between the messages of a statement, or into a transaction. The
 * price: code inside a transaction that waits for another connection waits for ever, which the idle limit turns into an error.
 */
export function embeddedWire(
  pg: PGlite,
  { log, maxIdleMs }: { log: Log; maxIdleMs: number },
): { connect: () => Duplex } {
  const waiting: { from: Connection; message: Uint8Array; done: () => void }[] = [];
  let owner: Connection | null = null;
  let busy = false;
  let idle: NodeJS.Timeout | undefined;

  async function pump(): Promise<void> {
    if (busy) return;
    busy = true;
    clearTimeout(idle);
    // An answer may not arrive inside the write that asks: postgres.js is not made for that.
    await Promise.resolve();
    for (;;) {
      const holder = owner;
      const index = holder === null ? 0 : waiting.findIndex(({ from }) => from === holder);
      const [next] = index < 0 ? [] : waiting.splice(index, 1);
      if (next === undefined) break;
      await run(next.from, next.message);
      next.done();
    }
    busy = false;
    if (owner !== null) idle = setTimeout(evict, maxIdleMs, owner).unref();
  }

  async function run(from: Connection, message: Uint8Array): Promise<void> {
    let tail: Uint8Array = new Uint8Array();
    owner = from;
    try {
      await pg.execProtocolRawStream(message, {
        onRawData(data) {
          tail = data.length >= 6 ? data.slice(-6) : Buffer.concat([tail, data]).subarray(-6);
          if (!from.destroyed) from.push(Buffer.from(data));
        },
      });
    } catch (error) {
      from.destroy(error instanceof Error ? error : new Error(String(error)));
    }
    if (ready.equals(tail)) owner = null;
  }

  /** A connection that goes away in the middle must not leave its transaction to the next one. */
  function release(connection: Connection): void {
    for (let i = waiting.length - 1; i >= 0; i--) if (waiting[i]?.from === connection) waiting.splice(i, 1);
    if (owner !== connection) return;
    waiting.push({ from: connection, message: rollback, done() {} });
    void pump();
  }

  function evict(connection: Connection): void {
    if (owner !== connection) return;
    log.error(
      { waiting: waiting.length },
      'a transaction held the database without using it and was rolled back; code inside a transaction may wait for nothing but its own statements',
    );
    connection.destroy(new Error('transaction was idle for too long'));
  }

  class Connection extends Duplex {
    /** postgres.js asks for it as of a net.Socket. */
    get readyState(): 'open' | 'closed' {
      return this.destroyed ? 'closed' : 'open';
    }
    override _read(): void {}
    override _write(message: Buffer, _encoding: BufferEncoding, done: () => void): void {
      if (message[0] === terminate) return done();
      waiting.push({ from: this, message, done });
      void pump();
    }
    override _final(done: () => void): void {
      done();
      this.destroy();
    }
    override _destroy(error: Error | null, done: (error: Error | null) => void): void {
      release(this);
      done(error);
    }
  }

  return { connect: () => new Connection() };
}

/** ReadyForQuery with status I: not in a transaction. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const terminate = 0x58;
/** Sync, which ends a statement that was cut off, then a simple query. */
const rollback = Buffer.concat([
  Buffer.from([0x53, 0, 0, 0, 4, 0x51, 0, 0, 0, 13]),
  Buffer.from('rollback\0'),
]);
