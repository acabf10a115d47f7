import type { Database, Sql } from '../../db/index.ts';
import { emit, type Event } from '../../db/outbox.ts';
import type { Context } from '../../http/context.ts';

/** The record that an event is about. Its tenant may differ from that of the operator who acts. */
export interface Owned {
  readonly tenant_id: string;
  readonly app_id: string;
}

/** One write in its transaction, and what it records besides the rows. */
export interface Write {
  readonly sql: Sql;
  readonly context: Context;
  /** Records an event about a tenant's record. `data` never holds a payload. */
  readonly emit: (type: `jobs.${string}`, subject: string, owner: Owned, data: object) => void;
  /** Tells the workers after the commit that these queues have jobs that are due. */
  readonly wake: (queues: Iterable<string>) => void;
}

/** Runs a write and returns its result. */
export type Writer = <T>(context: Context, run: (write: Write) => Promise<T>) => Promise<T>;

interface WriterDeps {
  readonly db: Database;
  readonly wake: (queues: readonly string[]) => void;
}

/** Every write of the service goes through here: rows and events are committed together, and workers hear of them afterwards. */
export const createWriter =
  ({ db, wake }: WriterDeps): Writer =>
  async (context, run) => {
    const queues = new Set<string>();
    const result = await db.transaction(async (sql) => {
      queues.clear();
      const events: Event[] = [];
      const done = await run({
        sql,
        context,
        emit: (type, subject, { tenant_id, app_id }, data) =>
          events.push({
            source: '/jobs',
            type,
            subject,
            tenant: tenant_id,
            app: app_id,
            actor: context.actor,
            data,
          }),
        wake: (names) => {
          for (const name of names) queues.add(name);
        },
      });
      const [first, ...rest] = events;
      if (first !== undefined) await emit(sql, first, ...rest);
      return done;
    });
    if (queues.size > 0) wake([...queues]);
    return result;
  };
