import type { Sql } from '../../db/index.ts';
import type { Counter, ThrottleKeys } from './throttle.ts';

/** Every statement about failed attempts. Counters forget after an hour without another failure. */
export const throttleStore = (sql: Sql) => ({
  async counters(
    tenant: string,
    { network, everywhere }: ThrottleKeys,
  ): Promise<{ network: Counter | undefined; everywhere: Counter | undefined }> {
    const rows = await sql<(Counter & { hash: string })[]>`
      select encode(hash, 'hex') as hash, failures, extract(epoch from now() - last_at)::float8 as seconds
      from auth.throttles
      where tenant_id = ${tenant} and hash = any(${sql.array([network, everywhere])}::bytea[])
        and last_at > now() - ${memory(sql)}`;
    const counter = (key: Buffer) => rows.find(({ hash }) => hash === key.toString('hex'));
    return { network: counter(network), everywhere: counter(everywhere) };
  },

  /** Counts a failure. Keys are written in one order, so that two failures at once do not wait for each other. */
  async count(tenant: string, { account, network, everywhere }: ThrottleKeys): Promise<void> {
    const rows = [network, everywhere]
      .sort((one, other) => one.compare(other))
      .map((hash) => ({ tenant_id: tenant, hash, account, failures: 1 }));
    await sql`
      insert into auth.throttles ${sql(rows)}
      on conflict (tenant_id, hash) do update
      set
        failures = case when throttles.last_at > now() - ${memory(sql)} then throttles.failures + 1 else 1 end,
        last_at = now()`;
  },

  async clearNetwork(tenant: string, { network }: ThrottleKeys): Promise<void> {
    await sql`delete from auth.throttles where tenant_id = ${tenant} and hash = ${network}`;
  },

  /** Forgets all failures of these accounts. */
  async clearAccounts(tenant: string, accounts: readonly Buffer[]): Promise<void> {
    await sql`delete from auth.throttles where tenant_id = ${tenant} and account = any(${sql.array([...accounts])}::bytea[])`;
  },

  /** Deletes what counts no more. Answers how many, at most `batch`. */
  async forget(batch: number): Promise<number> {
    const { count } = await sql`
      delete from auth.throttles
      where (tenant_id, hash) in (
        select tenant_id, hash from auth.throttles
        where last_at <= now() - ${memory(sql)}
        limit ${batch}
      )`;
    return count;
  },
});

const memory = (sql: Sql) => sql`interval '1 hour'`;
