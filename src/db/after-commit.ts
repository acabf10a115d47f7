import type { Log } from './log.ts';
import type { Sql } from './sql.ts';

export type AfterCommits = ReturnType<typeof afterCommits>;

/** Keeps callbacks to run once a transaction has committed, by the transaction's `sql`. */
export function afterCommits(log: Log) {
  const open = new WeakMap<Sql, (() => void)[]>();

  function call(fn: () => void): void {
    try {
      fn();
    } catch (error) {
      log.error({ err: error }, 'what was to happen after a commit failed');
    }
  }

  return {
    begin: (sql: Sql): void => void open.set(sql, []),
    after: (sql: Sql, fn: () => void): void => {
      const list = open.get(sql);
      if (list === undefined) call(fn);
      else list.push(fn);
    },
    run: (sql: Sql): void => {
      open.get(sql)?.forEach(call);
      open.delete(sql);
    },
  };
}
