import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { tallied } from './background-work.ts';
import type { Database } from './index.ts';
import type { Log } from './log.ts';
import type { Sql } from './sql.ts';

export interface PeriodicOptions {
  readonly db: Database;
  /** Unique among all sweeps: `<service>.<what>`. */
  readonly name: string;
  /** Milliseconds from the end of a successful run to the start of the next one, across all processes. */
  readonly everyMs: number;
  /** Does one run. A run may be interrupted or repeated at any point, so its steps must be repeatable. `signal` asks it to end early. */
  run: (signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}

/** How long a process that is killed during a run blocks other processes from running, in milliseconds. */
const leaseMs = 15_000;

/**
 * Runs a sweep every `everyMs` in one process at a time, by a lease row: the first process that finds it due and free takes it. A run
 * that throws is logged and tried again within one period, by any process. `stop` asks a run in flight to end and waits for it.
 */
export function periodic({ db, name, everyMs, run, log }: PeriodicOptions): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const lease = leaseOf(db.background, name, randomUUID());

  async function loop(): Promise<void> {
    while (!stopped.signal.aborted) {
      try {
        if (await lease.take(everyMs)) await runOnce();
      } catch (error) {
        log.warn({ err: error, sweep: name }, 'a sweep failed and will be tried again');
      }
      await delay(everyMs, undefined, { signal: stopped.signal, ref: false }).catch(() => {});
    }
  }

  async function runOnce(): Promise<void> {
    const ended = new AbortController();
    const signal = AbortSignal.any([stopped.signal, ended.signal]);
    const renewal = setInterval(() => {
      lease.renew().then(
        (held) => (held ? undefined : ended.abort()),
        () => {},
      );
    }, leaseMs / 3).unref();
    let succeeded = false;
    try {
      await tallied(name, () => run(signal));
      succeeded = true;
    } finally {
      clearInterval(renewal);
      await lease.free(succeeded ? everyMs : 0);
    }
  }

  const running = loop();
  return {
    stop() {
      stopped.abort();
      return running;
    },
  };
}

/** The lease of one sweep, as one process sees it. Times follow the database's clock. */
function leaseOf(sql: Sql, name: string, holder: string) {
  const milliseconds = (count: number) => sql`${count} * interval '1 millisecond'`;
  return {
    /** Whether this process may run. A run is due slightly early, so that the processes' timers do not skip every other period. */
    async take(everyMs: number): Promise<boolean> {
      const taken = await sql`
        insert into plinth.leases (name, holder, expires_at, due_at)
        values (${name}, ${holder}, now() + ${milliseconds(leaseMs)}, now())
        on conflict (name) do update
        set holder = excluded.holder, expires_at = excluded.expires_at
        where leases.expires_at <= now() and leases.due_at <= now() + ${milliseconds(everyMs / 10)}
        returning name
      `;
      return taken.length === 1;
    },
    async renew(): Promise<boolean> {
      const renewed = await sql`
        update plinth.leases set expires_at = now() + ${milliseconds(leaseMs)}
        where name = ${name} and holder = ${holder}
        returning name
      `;
      return renewed.length === 1;
    },
    async free(dueInMs: number): Promise<void> {
      await sql`
        update plinth.leases set expires_at = now(), due_at = now() + ${milliseconds(dueInMs)}
        where name = ${name} and holder = ${holder}
      `;
    },
  };
}
