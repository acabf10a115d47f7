import type { Sql } from '../../../db/index.ts';

/** A key that was refused because of its rate, for an event now. `refused` counts refusals since the last event. */
export interface LimitedKey {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly key_id: string;
  readonly refused: number;
}

/**
 * Limits of one fold statement: rows of the journal and their stored bytes; the first row is always included. Frequent keys are
 * added up once per statement, so few large statements are cheaper than many small ones. The byte limit, at about 100 per
 * record, keeps a statement within a second or two.
 */
const foldRows = 2_000;
const foldBytes = 4 * 1024 * 1024;

/**
 * Moves the oldest rows of the journal, none newer than `upTo`, into the records, the hourly counts and `last_used_at`. It is one
 * statement, so each row is moved exactly once. It skips repeated ids and adds up only inserted rows. Returns whether more rows may
 * be left, and which keys were refused because of their rate. Requires the lock of the journal: two concurrent folds could deadlock.
 */
export async function foldJournal(sql: Sql, upTo: number): Promise<{ more: boolean; limited: LimitedKey[] }> {
  const [folded] = await sql<[{ more: boolean; limited: LimitedKey[] }]>`
    with taken as (${taken(sql, upTo)}),
    recorded as (${recorded(sql)}),
    added as (${added(sql)}),
    hourly as (${hourly(sql)}),
    locked as (${locked(sql)}),
    raised as (
      update keys.keys
      set last_used_at = locked.at
      from locked
      where keys.tenant_id = locked.tenant_id and keys.id = locked.id
    ),
    notices as (${notices(sql)})
    select
      exists (
        select from keys.usage_journal where seq <= ${upTo} and seq > (select max(seq) from taken)
      ) as more,
      (
        select coalesce(
          json_agg(json_build_object(
            'tenant_id', notices.tenant_id, 'app_id', keys.app_id, 'key_id', notices.key_id, 'refused', notices.told
          )),
          '[]'
        )
        from notices
        join keys.keys on keys.tenant_id = notices.tenant_id and keys.id = notices.key_id
        where notices.told > 0
      ) as limited
  `;
  return folded;
}

/** Takes the oldest rows out of the journal, as many as one statement folds. */
const taken = (sql: Sql, upTo: number) => sql`
  delete from keys.usage_journal
  where seq in (
    select seq
    from (
      select seq, sum(pg_column_size(rows)) over before as bytes_before
      from (
        select seq, rows from keys.usage_journal where seq <= ${upTo} order by seq limit ${foldRows}
      ) as oldest
      window before as (order by seq rows between unbounded preceding and 1 preceding)
    ) as sized
    where coalesce(bytes_before, 0) < ${foldBytes}
  )
  returning seq, rows, counts`;

/** Inserts the records of the rows that were taken, but none twice. */
const recorded = (sql: Sql) => sql`
  insert into keys.usage (
    id, key_id, tenant_id, source, outcome, cost, method, endpoint, status_code, latency_ms, ip_address, origin, user_agent,
    created_at
  )
  select
    id, key_id, tenant_id, source, outcome, cost, method, endpoint, status_code, latency_ms, ip_address, origin, user_agent,
    created_at
  from taken
  cross join lateral json_to_recordset(taken.rows) as record(
    id text, key_id text, tenant_id text, source text, outcome text, cost integer, method text, endpoint text,
    status_code integer, latency_ms integer, ip_address text, origin text, user_agent text, created_at timestamptz
  )
  on conflict (tenant_id, created_at, id) do nothing
  returning tenant_id, key_id, outcome, cost, status_code, latency_ms, created_at`;

/** What the inserted records and the counted refusals add to the hours. */
const added = (sql: Sql) => sql`
  select
    tenant_id, key_id, date_trunc('hour', created_at, 'UTC') as hour, outcome, count(*) as count,
    count(*) filter (where status_code >= 400) as errors, sum(cost) as cost,
    coalesce(sum(latency_ms), 0) as latency_sum, count(latency_ms) as latency_count
  from recorded
  group by tenant_id, key_id, hour, outcome
  union all
  select tenant_id, key_id, hour, outcome, count, 0, 0, 0, 0
  from taken
  cross join lateral json_to_recordset(taken.counts) as counted(
    tenant_id text, key_id text, hour timestamptz, outcome text, count bigint
  )`;

const hourly = (sql: Sql) => sql`
  insert into keys.usage_hourly as hourly (
    tenant_id, key_id, hour, outcome, count, errors, cost, latency_sum, latency_count
  )
  select
    tenant_id, key_id, hour, outcome, sum(count), sum(errors), sum(cost), sum(latency_sum), sum(latency_count)
  from added
  group by tenant_id, key_id, hour, outcome
  on conflict on constraint usage_hourly_pkey do update set
    count = hourly.count + excluded.count,
    errors = hourly.errors + excluded.errors,
    cost = hourly.cost + excluded.cost,
    latency_sum = hourly.latency_sum + excluded.latency_sum,
    latency_count = hourly.latency_count + excluded.latency_count`;

/** Locks the keys that were used, in the order of the primary key, so as not to cross another transaction that locks several keys. */
const locked = (sql: Sql) => sql`
  select keys.tenant_id, keys.id, used.at
  from (
    select tenant_id, key_id, max(created_at) as at
    from recorded
    where outcome = 'VALID'
    group by tenant_id, key_id
  ) as used
  join keys.keys on keys.tenant_id = used.tenant_id and keys.id = used.key_id
  where keys.last_used_at is null or keys.last_used_at < used.at
  order by keys.tenant_id, keys.id
  for no key update of keys`;

/** At most one notice for each key and minute; the second of two notices also tells what was refused between them. */
const notices = (sql: Sql) => sql`
  insert into keys.rate_notices as notice (tenant_id, key_id, minute, pending, told)
  select tenant_id, key_id, date_trunc('minute', now()), 0, sum(count)
  from added
  where outcome = 'RATE_LIMITED'
  group by tenant_id, key_id
  on conflict on constraint rate_notices_pkey do update set
    minute = excluded.minute,
    told = case when notice.minute < excluded.minute then notice.pending + excluded.told else 0 end,
    pending = case when notice.minute < excluded.minute then 0 else notice.pending + excluded.told end
  returning tenant_id, key_id, told`;
