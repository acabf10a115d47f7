import { oneAtATime } from '../../lib/one-at-a-time.ts';
import type { Database } from '../index.ts';
import type { Log } from '../log.ts';
import type { Sql } from '../sql.ts';
import { tallied } from './background-work.ts';

export interface DueRowsOptions<Row> {
  /** Unique among all of them: `<service>_<what>`; also the channel of the notices. */
  readonly name: string;
  /** The most rows that each process works on at once. */
  readonly width: number;
  /** Claims up to `count` due rows for a while. Rows that a dead process had claimed become due again by themselves. */
  readonly claim: (count: number) => Promise<Row[]>;
  /**
   * Does the work of one row and stores the outcome; returns the milliseconds until the row is due again, if it will be. An error is
   * logged, and the row becomes due again when its claim ends.
   */
  readonly run: (row: Row) => Promise<number | undefined | void>;
}

/** Work that rows of a service's table request, done at least once, by any of the processes. */
export interface DueRows {
  /** Announces, in the transaction of `sql`, that rows will be due when it commits. */
  readonly wake: (sql: Sql) => Promise<void>;
}

export interface Work extends DueRows {
  start(): void;
  /** Takes no more rows and waits for the rows in progress. */
  stop(): Promise<void>;
}

/** Milliseconds between two looks for due rows when no notice arrives: the first after a row was found, and the most. */
const pollsMs = { first: 1_000, most: 4_000 };
/** The longest wait for a row that will be due again: polling finds the others, whichever process is alive then. */
const longestWaitMs = 60_000;

export function dueRows<Row>(
  { db, log }: { readonly db: Database; readonly log: Log },
  { name, width, claim, run }: DueRowsOptions<Row>,
): Work {
  const atWork = new Set<Promise<void>>();
  const waits = new Set<NodeJS.Timeout>();
  let started = false;
  let stopped = false;
  let pollMs = pollsMs.first;
  let timer: NodeJS.Timeout | undefined;
  let unlisten = () => {};

  const claims = oneAtATime(async () => {
    const free = width - atWork.size;
    if (stopped || free === 0) return;
    try {
      const rows = await claim(free);
      if (rows.length > 0) pollMs = pollsMs.first;
      // A full batch means that there may be more.
      if (rows.length === free) look();
      for (const row of rows) begin(row);
    } catch (error) {
      log.warn({ err: error, queue: name }, 'due rows could not be taken');
    }
  });
  const look = () => void claims.run();

  function begin(row: Row): void {
    const work = tallied(name, () => run(row))
      .then((dueInMs) => typeof dueInMs === 'number' && lookIn(dueInMs))
      .catch((error: unknown) => log.error({ err: error, queue: name }, 'a row could not be worked on'))
      .finally(() => {
        atWork.delete(work);
        look();
      }) as Promise<void>;
    atWork.add(work);
  }

  function lookIn(ms: number): void {
    if (stopped || ms > longestWaitMs) return;
    const wait = setTimeout(() => {
      waits.delete(wait);
      look();
    }, ms + 1).unref();
    waits.add(wait);
  }

  function poll(): void {
    timer = setTimeout(() => {
      pollMs = Math.min(pollMs * 2, pollsMs.most);
      look();
      poll();
    }, pollMs).unref();
  }

  return {
    wake: (sql) => db.notices.send(sql, name, ''),
    start() {
      started = true;
      unlisten = db.notices.listen(name, look, look);
      poll();
      look();
    },
    async stop() {
      stopped = true;
      if (!started) return;
      clearTimeout(timer);
      for (const wait of waits) clearTimeout(wait);
      unlisten();
      await claims.settled();
      await Promise.all(atWork);
    },
  };
}
