import type { PGlite } from '@electric-sql/pglite';
import { diskFullInstead, hasFileTrouble } from './error-messages.ts';

export interface EmbeddedWire {
  /** Takes what a connection sends: messages of the PostgreSQL protocol. */
  receive(connection: number, message: Uint8Array): void;
  /** Called when a connection is closed. Rolls back its open transaction, which must not pass to the next connection. */
  release(connection: number): void;
  /** Sets whether writes are refused, from the next transaction on. */
  refuseWrites(refused: boolean): void;
  /** Waits for the message in progress. */
  close(): Promise<void>;
}

export interface EmbeddedWireOptions {
  /** Milliseconds after which an idle transaction that holds the backend is ended. */
  readonly maxIdleMs: number;
  readonly answer: (connection: number, bytes: Uint8Array<ArrayBuffer>) => void;
  /** Called when the connection whose transaction holds the backend was idle for too long; `waiting` is the number of waiting messages. */
  readonly idle: (connection: number, waiting: number) => void;
  /** Called when the backend could not use a file; it may not notice when the file becomes usable again. */
  readonly fileTrouble: () => void;
  /** Called when the backend has become unusable. */
  readonly broken: (error: unknown) => void;
  /** `begin` is called before each message, `end` after it. */
  readonly begin: () => void;
  readonly end: () => void;
}

interface Message {
  /** The connection that sent the message; null for the wire itself. */
  readonly from: number | null;
  readonly bytes: Uint8Array;
}

/**
 * Lets many connections share the single backend of PGlite.
 *
 * A connection keeps the backend from its first message until the backend reports "ready, not in a transaction". So neither
 * another connection's statement nor its error can fall between the messages of a statement, or into a transaction. The
 * price: code inside a transaction that waits for another connection would wait forever; the idle limit turns that into an error.
 */
export function embeddedWire(pg: PGlite, options: EmbeddedWireOptions): EmbeddedWire {
  const waiting: Message[] = [];
  let owner: number | null = null;
  let running: Promise<void> | undefined;
  let idle: NodeJS.Timeout | undefined;
  let refusing = false;
  let wanted = false;

  function pump(): void {
    running ??= run().then(() => (running = undefined), options.broken);
  }

  async function run(): Promise<void> {
    clearTimeout(idle);
    for (let next = take(); next !== undefined; next = take()) await execute(next);
    if (owner !== null) idle = setTimeout(evict, options.maxIdleMs, owner);
  }

  function take(): Message | undefined {
    const holder = owner;
    if (holder === null && wanted !== refusing) {
      refusing = wanted;
      return {
        from: null,
        bytes: simpleQuery(`set default_transaction_read_only = ${refusing ? 'on' : 'off'}`),
      };
    }
    const index = holder === null ? 0 : waiting.findIndex(({ from }) => from === holder);
    return index < 0 ? undefined : waiting.splice(index, 1)[0];
  }

  async function execute({ from, bytes }: Message): Promise<void> {
    const parts: Buffer<ArrayBuffer>[] = [];
    owner = from;
    options.begin();
    await pg.execProtocolRawStream(bytes, { onRawData: (data) => void parts.push(Buffer.from(data)) });
    options.end();
    const whole = new Uint8Array(Buffer.concat(parts));
    if (ready.equals(whole.subarray(-ready.length))) owner = null;
    if (from === null || whole.length === 0) return;
    const troubled = hasFileTrouble(whole);
    options.answer(from, refusing ? diskFullInstead(whole) : whole);
    if (troubled) options.fileTrouble();
  }

  function evict(connection: number): void {
    if (owner === connection) options.idle(connection, waiting.length);
  }

  return {
    receive(connection, bytes) {
      waiting.push({ from: connection, bytes });
      pump();
    },
    release(connection) {
      for (let i = waiting.length - 1; i >= 0; i--) if (waiting[i]?.from === connection) waiting.splice(i, 1);
      if (owner !== connection) return;
      waiting.push({ from: connection, bytes: rollback });
      pump();
    },
    refuseWrites(refused) {
      wanted = refused;
      pump();
    },
    async close() {
      waiting.length = 0;
      clearTimeout(idle);
      await running;
    },
  };
}

/** ReadyForQuery with status I: not in a transaction. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

function simpleQuery(text: string): Buffer {
  const head = Buffer.from([0x51, 0, 0, 0, 0]);
  head.writeUInt32BE(text.length + 5, 1);
  return Buffer.concat([head, Buffer.from(`${text}\0`)]);
}

/** A Sync message, which ends an interrupted statement, then a simple query. */
const rollback = Buffer.concat([Buffer.from([0x53, 0, 0, 0, 4]), simpleQuery('rollback')]);
