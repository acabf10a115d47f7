import type { Sql } from './sql.ts';

/** How long a claimant must wait after failures. */
export interface Waits {
  /** The number of failures that cause no wait. */
  readonly free: number;
  /** The seconds to wait after each further failure; the last value applies to all later failures. */
  readonly seconds: readonly number[];
}

/** A counter of attempts. */
export interface Counter {
  readonly key: Buffer;
  readonly waits: Waits;
}

/** An attempt of one claimant. `account` finds all counters of the claimant. */
export interface Attempt {
  readonly tenant: string;
  readonly account: Buffer;
  readonly counters: readonly Counter[];
}

export interface AttemptOptions<T> {
  /** The counters whose earlier failures are also forgotten when the attempt succeeds. */
  readonly forgets?: readonly Buffer[];
  /** Carries out the attempt. Undefined means that it failed; an error means that it was not judged. */
  readonly run: (reserved: Reserved) => Promise<T | undefined>;
}

/** An attempt that is already counted. */
export interface Reserved {
  /** Whether the counter had failures before this attempt. */
  followed(key: Buffer): boolean;
}

export type Attempted<T> = { readonly wait: number } | { readonly result: T | undefined };

/** Seconds without another failure after which a counter is reset. */
const memorySeconds = 3_600;

/**
 * Counts attempts **before** they are judged, in one statement, and gives them back unless they fail: of many simultaneous attempts,
 * no more are judged than the counters allow, across all processes. An attempt that is running or was interrupted stays counted. Times
 * follow the database's clock. The service's migration creates the table `throttles` and the functions `reserve_attempt` and
 * `give_back_attempt` in its schema.
 */
export const attempts = (schema: string) => ({
  /** Returns the result (undefined when the attempt failed), or the seconds to wait when nothing was attempted. */
  async attempt<T>(
    sql: Sql,
    attempt: Attempt,
    { forgets = [], run }: AttemptOptions<T>,
  ): Promise<Attempted<T>> {
    const place = await reserve(sql, schema, attempt);
    if (place.seconds > 0) return { wait: Math.ceil(place.seconds) };
    const { keys, before } = place;
    const followed = (key: Buffer) => before[keys.findIndex((one) => one.equals(key))]! > 0;
    const giveBack = (forgotten: readonly Buffer[]) => takeOff(sql, schema, attempt.tenant, place, forgotten);
    let result: T | undefined;
    try {
      result = await run({ followed });
    } catch (error) {
      // The error of the attempt says more than an error of giving it back.
      await giveBack([]).catch(() => {});
      throw error;
    }
    if (result !== undefined) await giveBack(forgets);
    return { result };
  },

  /** Forgets the failures of one counter. */
  async forget(sql: Sql, tenant: string, key: Buffer): Promise<void> {
    await sql`delete from ${sql(`${schema}.throttles`)} where tenant_id = ${tenant} and hash = ${key}`;
  },

  /** Forgets all failures of these accounts. Rows are locked in the same order as by attempts. */
  async forgetAccounts(sql: Sql, tenant: string, accounts: readonly Buffer[]): Promise<void> {
    await sql`
      delete from ${sql(`${schema}.throttles`)}
      where (tenant_id, hash) in (
        select tenant_id, hash from ${sql(`${schema}.throttles`)}
        where tenant_id = ${tenant} and account = any(${sql.array([...accounts])}::bytea[])
        order by hash
        for update
      )`;
  },

  /** Deletes counters that no longer count. Returns how many, at most `batch`. */
  async sweep(sql: Sql, batch: number): Promise<number> {
    const { count } = await sql`
      delete from ${sql(`${schema}.throttles`)}
      where (tenant_id, hash) in (
        select tenant_id, hash from ${sql(`${schema}.throttles`)}
        where last_at <= now() - ${memorySeconds} * interval '1 second'
        limit ${batch}
        for update skip locked
      )`;
    return count;
  },
});

/** A counted attempt, with what is needed to give it back. */
interface Place {
  readonly seconds: number;
  readonly at: number;
  /** The time of the previous failure on each counter, 0 when there is none. */
  readonly before: readonly number[];
  readonly keys: readonly Buffer[];
}

async function reserve(sql: Sql, schema: string, { tenant, account, counters }: Attempt): Promise<Place> {
  const sorted = [...counters].sort((one, other) => one.key.compare(other.key));
  const keys = sorted.map(({ key }) => key);
  const [place] = await sql<[Omit<Place, 'keys'>]>`
    select seconds, at, before from ${sql(`${schema}.reserve_attempt`)}(
      ${tenant}, ${sql.array([...keys])}::bytea[], ${account}, ${sorted.map(({ waits }) => waits.free)}::integer[],
      ${sorted.map(({ waits }) => waits.seconds)}::jsonb, ${memorySeconds}
    )`;
  return { ...place, keys };
}

async function takeOff(
  sql: Sql,
  schema: string,
  tenant: string,
  { keys, at, before }: Place,
  forgets: readonly Buffer[],
): Promise<void> {
  await sql`
    select from ${sql(`${schema}.give_back_attempt`)}(
      ${tenant}, ${sql.array([...keys])}::bytea[], ${at}, ${[...before]}::float8[], ${forgets.map((key) => key.toString('hex'))}::text[]
    )`;
}
