import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from './index.ts';
import type { Log } from './log.ts';
import type { Sql } from './sql.ts';

export interface PeriodicOptions {
  readonly db: Database;
  /** Unique among all sweeps: `<service>.<what>`. */
  readonly name: string;
  /** Between the starts of two runs, over all processes. A run that takes longer delays the next one. */
  readonly everyMs: number;
  /** One run. It may be cut off or repeated at any point, so it does its work in steps that may be repeated. `signal` asks it to end early. */
  run: (signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}

/** How long a process that was killed in the middle of a run keeps others from running. */
const leaseMs = 15_000;

/**
 * Runs a sweep every `everyMs` in one process at a time, by a lease row: whoever finds it due and free takes it. A run that throws is
 * logged and tried again one period later, by any process. `stop` asks a run in flight to end and waits for it.
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
      await run(signal);
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

/** The lease of one sweep, seen by one process. The database's clock decides. */
function leaseOf(sql: Sql, name: string, holder: string) {
  const milliseconds = (count: number) => sql`${count} * interval '1 millisecond'`;
  return {
    /** True when the run is ours. Due counts a little early, so that timers of several processes do not skip every other period. */
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
