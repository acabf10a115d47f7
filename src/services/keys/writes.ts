import type { Change, Changes } from '../../db/changes.ts';
import type { Database, Sql } from '../../db/index.ts';
import { emit, type Event } from '../../db/outbox.ts';
import type { Context } from '../../http/context.ts';

/** What answers are different about from now on: a key, all keys of a policy, or all keys of a tenant. */
export type ChangeKind = 'key' | 'policy' | 'tenant';

/** One write of a tenant in its transaction, and what it notes besides the rows. */
export interface Write {
  readonly sql: Sql;
  readonly context: Context;
  /** Notes that cached answers have to be dropped. */
  readonly changed: (kind: ChangeKind, id: string) => void;
  /** Notes an event, `keys.<what>`. */
  readonly emit: (what: string, subject: string, data: object) => void;
}

/** Runs a write and answers what it returns. */
export type Writer = <T>(context: Context, run: (write: Write) => Promise<T>) => Promise<T>;

/**
 * Every write of the service goes through here: rows, changes and events are committed together, and before the answer
 * this process has dropped what it kept of what changed.
 */
export const createWriter =
  ({ db, changes }: { db: Database; changes: Changes }): Writer =>
  (context, run) =>
    db.transaction(async (sql) => {
      const noted: Change[] = [];
      const events: Event[] = [];
      const { tenant, app, actor } = context;
      const result = await run({
        sql,
        context,
        changed: (kind, id) => void noted.push({ kind, id }),
        emit: (what, subject, data) =>
          void events.push({ source: '/keys', type: `keys.${what}`, subject, tenant, app, actor, data }),
      });
      const [first, ...rest] = events;
      if (first !== undefined) await emit(sql, first, ...rest);
      if (noted.length > 0) await changes.record(sql, ...noted);
      return result;
    });
