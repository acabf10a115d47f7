import type { Database, Log } from '../../../db/index.ts';
import { emit, type Event } from '../../../db/outbox.ts';
import { journalStore } from './journal.store.ts';

export interface Fold {
  /** Resolves when everything that was answered before the call can be read. */
  now(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** How often the journal is emptied in the background. */
const everyMs = 1_000;

/**
 * Moves usage from the journal to where it is read, every second in each process and before every read. Who finds another
 * fold at work leaves it to that one in the background, and waits for it before a read.
 */
export function createFold(db: Database, log: Log): Fold {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  /** False when none of the rows up to `upTo` are left, or, not waiting, when another one is at it. */
  async function step(upTo: number, wait: boolean): Promise<boolean> {
    return db.transaction(async (sql) => {
      const journal = journalStore(sql);
      if (wait) await journal.lock();
      else if (!(await journal.tryLock())) return false;
      const { more, limited } = await journal.fold(upTo);
      const [first, ...rest] = limited.map(rateLimited);
      if (first !== undefined) await emit(sql, first, ...rest);
      return more;
    });
  }

  async function run(wait: boolean): Promise<void> {
    const upTo = await journalStore(db.sql).newest();
    if (upTo === null) return;
    for (let more = true; more;) more = await withPartitions(() => step(upTo, wait));
  }

  /** A day without a partition is rare: a clock far off, or a server that slept. */
  async function withPartitions<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isMissingPartition(error)) throw error;
      await db.transaction(async (sql) => {
        const journal = journalStore(sql);
        await journal.lock();
        await journal.addMissingPartitions();
      });
      return await work();
    }
  }

  return {
    now: () => run(true),
    start() {
      timer = setInterval(() => {
        running = running
          .then(() => run(false))
          .catch((error: unknown) => log.warn({ err: error }, 'usage could not be folded and will be later'));
      }, everyMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/** A row that fits no partition breaks the rule of all of them together. */
const isMissingPartition = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === '23514';

/** Someone keeps asking with a key whose rate is used up: said at most once a minute for each key. */
function rateLimited(limited: { tenant_id: string; app_id: string; key_id: string; refused: number }): Event {
  return {
    source: '/keys',
    type: 'keys.key.rate_limited',
    subject: limited.key_id,
    tenant: limited.tenant_id,
    app: limited.app_id,
    actor: limited.key_id,
    data: { refused: limited.refused },
  };
}
