import { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { counter, type EngineData, type FromEngine, type ToEngine } from './engine-messages.ts';
import type { Log } from './log.ts';

export interface EngineOptions {
  readonly dataDir: string;
  readonly log: Log;
  /** Milliseconds after which an idle transaction that holds the database is rolled back. */
  readonly maxIdleMs: number;
  /** Called when the database has ended, before it is restarted: it is unknown whether the work in progress was committed. */
  readonly onLoss: () => void;
  /** Milliseconds after which a message is assumed never to end, and the database is restarted. */
  readonly patienceMs: () => number;
  /** Whether the database has enough disk space to start again. */
  readonly canStart: () => Promise<boolean>;
  readonly maxFiles: number;
}

/** The embedded database in a thread of its own: the process continues whatever happens to the database. */
export interface Engine {
  /** Opens a connection that speaks the PostgreSQL protocol. No port or socket file exists, so no other process can reach the database. */
  readonly connect: () => Duplex;
  refuseWrites(refused: boolean): void;
  /** Runs `work` without a time limit for messages. */
  patiently<T>(work: () => Promise<T>): Promise<T>;
  /** After this call the database is not restarted when it ends. */
  settle(): void;
  close(): Promise<void>;
}

/** Time limits in milliseconds. Acknowledged commits are already in the files, so an engine that does not close in time is terminated. */
const limits = { start: 120_000, close: 5_000, check: 200, pause: 1_000, renewal: 3_000 };

/** Starts the database, and restarts it whenever it ends or hangs. Rejects when the first start fails. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { log } = options;
  const connections = new Map<number, Connection>();
  let last = 0;
  let patient = 0;
  let refused = false;
  let closing = false;
  let renewedAt = -Infinity;
  let restarting: Promise<void> | undefined;
  let thread: Thread | undefined = await startThread(options, hear, lost);
  const watch = setInterval(check, limits.check).unref();

  function hear(message: FromEngine): void {
    if (message.kind === 'answer') connections.get(message.connection)?.hear(message.bytes);
    else if (message.kind === 'idle') evict(message.connection, message.waiting);
    else if (message.kind === 'fileTrouble') renew();
  }

  /** Only a restart makes the database look at its files again. Restarts are limited in rate, in case they do not help. */
  function renew(): void {
    const now = performance.now();
    if (now - renewedAt < limits.renewal) return;
    renewedAt = now;
    log.error({}, 'the embedded database could not use one of its files and is ended');
    thread?.kill();
  }

  function evict(connection: number, waiting: number): void {
    log.error(
      { waiting },
      'a transaction held the database without using it and was rolled back; code inside a transaction may wait for nothing but its own statements',
    );
    connections.get(connection)?.destroy(new Error('transaction was idle for too long'));
  }

  function lost(cause: unknown): void {
    thread = undefined;
    for (const connection of connections.values()) connection.destroy(gone());
    if (closing) return;
    options.onLoss();
    log.error({ err: cause }, 'the embedded database ended and is started again');
    restarting = restart();
  }

  async function restart(): Promise<void> {
    while (thread === undefined && !closing) {
      await delay(limits.check);
      if (closing || !(await options.canStart().catch(() => true))) continue;
      try {
        thread = await startThread(options, hear, lost);
        if (refused) thread.say({ kind: 'refuseWrites', refused });
        log.info({}, 'the embedded database works again');
      } catch (error) {
        log.error({ err: error }, 'the embedded database could not be started and is tried again');
        await delay(limits.pause);
      }
    }
  }

  function check(): void {
    if (thread === undefined || patient > 0) return;
    const busyMs = thread.busyMs();
    if (busyMs <= options.patienceMs()) return;
    log.error({ seconds: Math.round(busyMs / 1000) }, 'the embedded database hangs and is ended');
    thread.kill();
  }

  return {
    connect() {
      const id = ++last;
      const connection = new Connection({
        send: (bytes) => thread?.say({ kind: 'message', connection: id, bytes }, [bytes.buffer]),
        left: () => {
          connections.delete(id);
          thread?.say({ kind: 'release', connection: id });
        },
      });
      connections.set(id, connection);
      if (thread === undefined) setImmediate(() => connection.destroy(gone()));
      return connection;
    },
    refuseWrites(value) {
      refused = value;
      thread?.say({ kind: 'refuseWrites', refused });
    },
    async patiently(work) {
      patient++;
      return work().finally(() => patient--);
    },
    settle: () => void (closing = true),
    async close() {
      closing = true;
      clearInterval(watch);
      await restarting;
      await thread?.end();
    },
  };
}

const gone = () => Object.assign(new Error('the embedded database is not there'), { code: 'ECONNRESET' });

interface Thread {
  say(message: ToEngine, transfer?: ArrayBuffer[]): void;
  /** Milliseconds for which the message in progress was seen in progress. */
  busyMs(): number;
  kill(): void;
  end(): Promise<void>;
}

/** Resolves when the database is ready; from then on `lost` is called when the database ends for any reason. */
async function startThread(
  { dataDir, maxIdleMs, maxFiles }: EngineOptions,
  hear: (message: FromEngine) => void,
  lost: (cause: unknown) => void,
): Promise<Thread> {
  const progress = new Int32Array(new SharedArrayBuffer(8));
  const workerData: EngineData = { dataDir, progress, maxIdleMs, maxFiles };
  const worker = new Worker(new URL('./engine-thread.ts', import.meta.url), { workerData });
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  let cause: Error | undefined;
  worker.on('error', (error) => void (cause ??= error as Error));
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => void worker.terminate(), limits.start);
    worker.on('message', (message: FromEngine) => {
      if (message.kind !== 'ready') return hear(message);
      clearTimeout(late);
      resolve();
    });
    void ended.then(() => {
      clearTimeout(late);
      reject(cause ?? new Error('the embedded database did not start'));
    });
  });
  void ended.then(() => lost(cause));
  return {
    say: (message, transfer = []) => worker.postMessage(message, transfer),
    busyMs: stopwatch(progress),
    kill: () => void worker.terminate(),
    async end() {
      worker.postMessage({ kind: 'close' } satisfies ToEngine);
      const late = setTimeout(() => void worker.terminate(), limits.close);
      await ended;
      clearTimeout(late);
    },
  };
}

/** Counts from the call that first sees a message in progress, so the stopwatch must be polled. */
function stopwatch(progress: Int32Array): () => number {
  let seen = -1;
  let since = 0;
  return () => {
    const begun = Atomics.load(progress, counter.begun);
    const atWork = begun !== Atomics.load(progress, counter.ended);
    if (begun !== seen || !atWork) {
      seen = begun;
      since = performance.now();
    }
    return performance.now() - since;
  };
}

class Connection extends Duplex {
  readonly #wire: { send(bytes: Uint8Array<ArrayBuffer>): void; left(): void };
  constructor(wire: { send(bytes: Uint8Array<ArrayBuffer>): void; left(): void }) {
    super();
    this.#wire = wire;
  }
  /** postgres.js reads this property of a net.Socket. */
  get readyState(): 'open' | 'closed' {
    return this.destroyed ? 'closed' : 'open';
  }
  hear(bytes: Uint8Array): void {
    if (!this.destroyed) this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
  override _read(): void {}
  override _write(message: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (message[0] !== terminate) this.#wire.send(new Uint8Array(message));
    done();
  }
  override _final(done: () => void): void {
    done();
    this.destroy();
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#wire.left();
    done(error);
  }
}

const terminate = 0x58;
