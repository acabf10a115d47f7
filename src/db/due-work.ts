import type { Database } from './index.ts';
import type { Log } from './log.ts';
import type { Sql } from './sql.ts';

export interface DueWorkOptions<Row> {
  readonly db: Database;
  /** Unique among all queues: `<service>_<what>`; also the channel on which it is woken. */
  readonly name: string;
  /** Rows at work at once, in each process. */
  readonly width: number;
  /** How often due rows are looked for when nobody says that there are any. */
  readonly pollMs: number;
  /** Takes up to `count` rows that are due and nobody else's for a while. Rows of a process that dies come back by themselves. */
  readonly claim: (count: number) => Promise<Row[]>;
  /** Does the work of one row and stores what came of it. What it throws is logged, and the row comes back. */
  readonly run: (row: Row) => Promise<void>;
  readonly log: Log;
}

/** Work that rows of a table ask for, done at least once, by any of the processes. */
export interface DueWork {
  /** Says in the transaction that `sql` is that rows will be due with its commit. */
  readonly wake: (sql: Sql) => Promise<void>;
  start(): void;
  /** Takes no more rows and waits for those at work. */
  stop(): Promise<void>;
}

export function dueWork<Row>({ db, name, width, pollMs, claim, run, log }: DueWorkOptions<Row>): DueWork {
  const atWork = new Set<Promise<void>>();
  let stopped = false;
  let claiming: Promise<void> | undefined;
  let again = false;
  let timer: NodeJS.Timeout | undefined;
  let unlisten = () => {};

  /** One claim at a time; a call during one causes another after it. */
  function look(): void {
    if (stopped) return;
    if (claiming) again = true;
    else claiming = claimOnce().finally(next);
  }

  function next(): void {
    claiming = undefined;
    if (!again) return;
    again = false;
    look();
  }

  async function claimOnce(): Promise<void> {
    const free = width - atWork.size;
    if (free === 0) return;
    try {
      const rows = await claim(free);
      // A full batch means that there may be more.
      if (rows.length === free) again = true;
      for (const row of rows) begin(row);
    } catch (error) {
      log.warn({ err: error, queue: name }, 'due rows could not be taken');
    }
  }

  function begin(row: Row): void {
    const work = run(row)
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
      await claiming;
      await Promise.all(atWork);
    },
  };
}
