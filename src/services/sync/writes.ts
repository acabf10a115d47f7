import type { Database } from '../../db/index.ts';
import { type Author, UnitOfWork } from '../../db/write.ts';

/** Runs a write in its transaction and returns its result; its events are stored with its rows. */
export type Writer = <T>(author: Author, run: (tx: UnitOfWork) => Promise<T>) => Promise<T>;

/** Every write that emits events goes through here, but for those that have to make do with a single statement. */
export const createWriter =
  ({ db }: { readonly db: Database }): Writer =>
  ({ tenant, app, actor }, run) =>
    db.transaction(async (sql) => {
      const tx = new UnitOfWork(sql, { tenant, app, actor }, 'sync');
      const result = await run(tx);
      await tx.settle({});
      return result;
    });
