import { Unavailable } from '../lib/errors.ts';
import { type Connect, type Lane, openLane } from './lane.ts';
import { createDeadlines } from './deadlines.ts';
import type { PoolFigures } from './figures.ts';
import { type LaneOptions, maxAgeMs } from './lanes.ts';
import { handedTo, type Statement } from './statement.ts';
import type { Pool, Sql } from './sql.ts';

/** Runs single statements on shared connections. */
export interface Statements {
  readonly sql: Sql;
  /** Figures of the connections and their statements: each connection executes one statement, and the others wait behind it. */
  readonly figures: () => Omit<PoolFigures, 'pool'>;
  /** Waits for statements in flight. */
  readonly close: () => Promise<void>;
}

/**
 * Opens up to `max` connections. A statement goes to an idle connection, else to a new one, else to the one with the fewest statements
 * in flight. So a connection that hangs soon gets no more statements, and a lost one gets none. Up to `maxWaiting` statements may be in
 * flight; each is answered within `waitMs`.
 */
export function createStatements<Target>(
  create: (connect: Connect<Target>) => Pool,
  connect: Connect<Target>,
  { max, maxWaiting, waitMs, closeMs, reach }: LaneOptions,
): Statements {
  const open = new Set<Lane>();
  /** Connections that are too old for further statements but still have some in flight. */
  const ageing = new Set<Lane>();
  const deadlines = waitMs === undefined ? undefined : createDeadlines(waitMs);
  let inFlight = 0;
  let closed: Promise<unknown> | undefined;

  function enter(statement: Statement): void {
    const problem = closed === undefined ? reach?.problem() : Unavailable('shutting down');
    if (problem !== undefined) return statement.reject(problem);
    if (inFlight >= maxWaiting) return statement.reject(Unavailable('store busy'));
    if (statement.cursorFn !== undefined)
      return statement.reject(new TypeError('a cursor needs a transaction'));
    inFlight++;
    const inTime = deadlines?.add(() => statement.reject(lateError()));
    const lane = pick();
    const done = () => {
      inTime?.();
      inFlight--;
      if (ageing.has(lane) && lane.inFlight() === 0) discard(lane);
    };
    lane.execute(statement);
    statement.then(done, done);
  }

  function pick(): Lane {
    let best: Lane | undefined;
    for (const lane of open) {
      if (lane.lost()) discard(lane);
      else if (performance.now() - lane.born > maxAgeMs) retire(lane);
      else if (best === undefined || lane.inFlight() < best.inFlight()) best = lane;
    }
    return best === undefined || (best.inFlight() > 0 && open.size < max) ? add() : best;
  }

  function add(): Lane {
    const lane = openLane(create, connect);
    open.add(lane);
    reach?.watch(lane);
    return lane;
  }

  function retire(lane: Lane): void {
    open.delete(lane);
    if (lane.inFlight() === 0) discard(lane);
    else ageing.add(lane);
  }

  function discard(lane: Lane): void {
    open.delete(lane);
    ageing.delete(lane);
    reach?.unwatch(lane);
    void lane.end(0);
  }

  return {
    // This pool only creates statements and never connects.
    sql: handedTo(create(connect), enter),
    figures() {
      const busy = [...open, ...ageing].filter((lane) => lane.inFlight() > 0).length;
      return { open: open.size + ageing.size, busy, waiting: inFlight - Math.min(inFlight, busy) };
    },
    async close() {
      const all = [...open, ...ageing];
      closed ??= Promise.all(all.map((lane) => lane.end(closeMs)));
      await closed;
      for (const lane of all) reach?.unwatch(lane);
    },
  };
}

const lateError = () =>
  Object.assign(new Error('the database did not answer in time'), { code: 'ETIMEDOUT' });
