import type { Pool, Sql } from './sql.ts';

/** A statement of postgres.js: a promise that passes itself to its handler when it is awaited. */
export interface Statement extends Promise<unknown> {
  handler: (statement: Statement) => void;
  /** Called by postgres.js with the result. */
  resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly cursorFn?: unknown;
}

/** Returns an `sql` whose statements go to `enter` instead of the pool that creates them. */
export function handedTo(pool: Pool, enter: (statement: Statement) => void): Sql {
  function redirected<Made>(made: Made): Made {
    if (made instanceof Promise) (made as unknown as Statement).handler = enter;
    return made;
  }
  const unsafe = (...given: Parameters<Pool['unsafe']>) => redirected(pool.unsafe(...given));
  return new Proxy<Sql>(pool, {
    apply: (target, _this, given) => redirected(Reflect.apply(target, undefined, given) as unknown),
    get: (target, name) => (name === 'unsafe' ? unsafe : (Reflect.get(target, name) as unknown)),
  });
}

/** The handler that executes the statements of the pool. */
export const handlerOf = (pool: Pool) => (pool.unsafe('') as unknown as Statement).handler;

/**
 * Repairs the result of a statement before anybody sees it. postgres.js 3.4.9 does not forget how many rows of a failed statement had
 * arrived: the first row of the connection's next result then stands behind as many holes, and reads as if there were none.
 */
export function repairResult(statement: Statement): void {
  const { resolve } = statement;
  statement.resolve = (result) => resolve.call(statement, withoutHoles(result));
}

function withoutHoles(result: unknown): unknown {
  if (!Array.isArray(result) || result.length === 0 || 0 in result) return result;
  let first = 0;
  while (first < result.length && !(first in result)) first++;
  result.splice(0, first);
  return result;
}
