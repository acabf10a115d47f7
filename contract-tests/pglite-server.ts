import type { PGlite } from '@electric-sql/pglite';
import { createServer, type Server, type Socket } from 'node:net';

/**
 * Serves the PostgreSQL protocol for one PGlite. A connection has the backend to itself from its first message until the
 * backend is ready and outside a transaction, so that statements of different connections never mix.
 */
export function pgliteServer(pg: PGlite): Server {
  let last = Promise.resolve();
  /** Waits for its turn. The returned function ends the turn. */
  async function turn(): Promise<() => void> {
    const before = last;
    let end = () => {};
    last = new Promise((resolve) => (end = resolve));
    await before;
    return end;
  }
  return createServer((socket) => serve(socket, pg, turn));
}

function serve(socket: Socket, pg: PGlite, turn: () => Promise<() => void>): void {
  const frames = framer();
  let work = Promise.resolve();
  let endTurn: (() => void) | undefined;

  async function answer(messages: Uint8Array): Promise<void> {
    endTurn ??= await turn();
    const answered = await pg.execProtocolRaw(messages);
    if (!socket.destroyed) socket.write(answered);
    if (!ready.equals(answered.slice(-ready.length))) return;
    endTurn();
    endTurn = undefined;
  }

  socket.on('data', (chunk) => {
    const messages = frames(chunk);
    if (messages.length > 0) work = work.then(() => answer(messages)).catch(() => void socket.destroy());
  });
  socket.on('error', () => {});
  // A connection that breaks off must not leave its transaction to the next one.
  socket.on('close', () => {
    work = work.then(async () => {
      if (!endTurn) return;
      await pg.execProtocolRaw(rollback);
      endTurn();
    });
  });
}

/** Splits the stream into whole messages and drops the termination: PGlite has one session, which outlives its connections. */
function framer(): (chunk: Buffer) => Buffer {
  let rest = Buffer.alloc(0);
  let started = false;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const whole: Buffer[] = [];
    for (;;) {
      // The first message has no type, only its length.
      const head = started ? 1 : 0;
      if (rest.length < head + 4) break;
      const length = head + rest.readUInt32BE(head);
      if (rest.length < length) break;
      if (!started || rest[0] !== terminate) whole.push(rest.subarray(0, length));
      rest = rest.subarray(length);
      started = true;
    }
    return Buffer.concat(whole);
  };
}

const terminate = 0x58;
/** ReadyForQuery with status I: outside a transaction. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
/** Sync, which ends a cut-off statement, followed by a simple query. */
const rollback = Buffer.concat([
  Buffer.from([0x53, 0, 0, 0, 4, 0x51, 0, 0, 0, 13]),
  Buffer.from('rollback\0'),
]);
