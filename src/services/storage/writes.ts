import type { Database, Sql } from '../../db/index.ts';
import { type Author, UnitOfWork } from '../../db/write.ts';

/** One write in its transaction, and the events that it notes. */
export interface Write {
  readonly sql: Sql;
  /** Notes an event by its full name. `data` never holds a secret. */
  readonly emit: (type: `storage.${string}`, subject: string, data: object) => void;
}

/** Runs a write and returns its result. */
export type Writer = <T>(author: Author, run: (write: Write) => Promise<T>) => Promise<T>;

/**
 * Commits rows and events together. The writes of objects, parts and content do the same in the functions of the migrations, in one
 * statement. It runs in a transaction of its own, because the connections for single statements must not wait for locks.
 */
export const createWriter =
  ({ db }: { readonly db: Database }): Writer =>
  ({ tenant, app, actor }, run) =>
    db.transaction(async (sql) => {
      const unit = new UnitOfWork(sql, { tenant, app, actor }, 'storage');
      const result = await run({ sql, emit: (type, subject, data) => unit.emit(type, subject, data) });
      await unit.settle({});
      return result;
    });
