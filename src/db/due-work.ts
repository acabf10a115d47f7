import { oneAtATime } from '../lib/one-at-a-time.ts';
import { tallied } from './background-work.ts';
import type { Database } from './index.ts';
import type { Log } from './log.ts';
import type { Sql } from './sql.ts';

export interface DueWorkOptions<Row> {
  readonly db: Database;
  /** Unique among all queues: `<service>_<what>`; also the channel of its notices. */
  readonly name: string;
  /** The most rows that each process works on at once. */
  readonly width: number;
  /** Milliseconds between two looks for due rows when no notice arrives. */
  readonly pollMs: number;
  /** Claims up to `count` due rows for a while. Rows that a dead process had claimed become due again by themselves. */
  readonly claim: (count: number) => Promise<Row[]>;
  /** Does the work of one row and stores the outcome. An error is logged, and the row becomes due again. */
  readonly run: (row: Row) => Promise<void>;
  readonly log: Log;
}

/** Work that rows of a table request, done at least once, by any of the processes. */
export interface DueWork {
  /** Announces, in the transaction of `sql`, that rows will be due when it commits. */
  readonly wake: (sql: Sql) => Promise<void>;
  start(): void;
  /** Takes no more rows and waits for the rows in progress. */
  stop(): Promise<void>;
}

export function dueWork<Row>({ db, name, width, pollMs, claim, run, log }: DueWorkOptions<Row>): DueWork {
  const atWork = new Set<Promise<void>>();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let unlisten = () => {};

  const claims = oneAtATime(async () => {
    const free = width - atWork.size;
    if (stopped || free === 0) return;
    try {
      const rows = await claim(free);
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
      .catch((error: unknown) => log.error({ err: error, queue: name }, 'a row could not be worked on'))
      .finally(() => {
        atWork.delete(work);
        look();
      });
    atWork.add(work);
  }

  return {
    wake: (sql) => db.notices.send(sql, name, ''),
    start() {
      unlisten = db.notices.listen(name, look, look);
      timer = setInterval(look, pollMs);
      timer.unref();
      look();
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      unlisten();
      await claims.settled();
      await Promise.all(atWork);
    },
  };
}
