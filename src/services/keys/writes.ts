import type { Changes } from '../../db/changes.ts';
import type { Database, Sql } from '../../db/index.ts';
import { UnitOfWork } from '../../db/write.ts';
import type { Context } from '../../http/context.ts';

/** The kind of thing whose answers change from now on: a key, all keys of a policy, or all keys of a tenant. */
export type ChangeKind = 'key' | 'policy' | 'tenant';

/** One write of a tenant in its transaction, and what it records besides the rows. */
export interface Write {
  readonly sql: Sql;
  readonly context: Context;
  /** The database's clock, which determines expiry. */
  readonly clock: Changes['clock'];
  /** Records that cached answers have to be dropped. */
  readonly changed: (kind: ChangeKind, id: string) => void;
  /** Records an event. */
  readonly emit: (type: `keys.${string}`, subject: string, data: object) => void;
}

/** Runs a write and returns its result. */
export type Writer = <T>(context: Context, run: (write: Write) => Promise<T>) => Promise<T>;

/**
 * Every write of the service goes through here: rows, changes and events are committed together. Before the answer is sent,
 * this process has dropped the cache entries of everything that changed.
 */
export const createWriter =
  ({ db, changes }: { db: Database; changes: Changes }): Writer =>
  (context, run) =>
    db.transaction(async (sql) => {
      const unit = new UnitOfWork(sql, context, 'keys');
      const result = await run({
        sql,
        context,
        clock: changes.clock,
        changed: (kind, id) => unit.changed({ kind, id }),
        emit: (...event) => unit.emit(...event),
      });
      await unit.settle({ log: changes });
      return result;
    });
