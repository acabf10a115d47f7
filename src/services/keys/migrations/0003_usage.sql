-- What was answered and not yet folded into `usage` and `usage_hourly`: one row for each commit, so that the path of a
-- validation touches one index. `rows` are usage records, `counts` are refusals that were counted instead of recorded.
create table keys.usage_journal (
  seq bigint generated always as identity,
  rows json not null,
  counts json not null,
  constraint usage_journal_pkey primary key (seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

create table keys.usage (
  id text collate "C" not null,
  key_id text collate "C" not null,
  tenant_id text collate "C" not null,
  source text collate "C" not null,
  outcome text collate "C" not null,
  cost integer not null,
  method text,
  endpoint text,
  status_code integer,
  latency_ms integer,
  ip_address text,
  origin text,
  user_agent text,
  -- The millisecond inside the id, so that one id has one place among the partitions and is stored once.
  created_at timestamptz(3) not null,
  constraint usage_pkey primary key (tenant_id, created_at, id)
) partition by range (created_at);
create index usage_of_key on keys.usage (tenant_id, key_id, created_at desc, id);

create table keys.usage_hourly (
  tenant_id text collate "C" not null,
  key_id text collate "C" not null,
  hour timestamptz(3) not null,
  outcome text collate "C" not null,
  count bigint not null,
  errors bigint not null,
  cost bigint not null,
  latency_sum bigint not null,
  latency_count bigint not null,
  constraint usage_hourly_pkey primary key (tenant_id, key_id, hour, outcome)
) with (fillfactor = 70);
create index usage_hourly_of_tenant on keys.usage_hourly (tenant_id, hour);
-- Rows come in the order of their hours, so this finds the old ones at next to no cost.
create index usage_hourly_age on keys.usage_hourly using brin (hour);

-- When `keys.key.rate_limited` was last said of a key, and how many refusals have come since. `told` is what the last fold
-- had to say: 0 while the minute lasts.
create table keys.rate_notices (
  tenant_id text collate "C" not null,
  key_id text collate "C" not null,
  minute timestamptz(3) not null,
  pending bigint not null,
  told bigint not null,
  constraint rate_notices_pkey primary key (tenant_id, key_id)
);

-- Adds the partition of one UTC day. Attaching takes no lock that readers wait for, creating it in place would.
create function keys.add_usage_partition(p_day date) returns void language plpgsql as $$
declare
  v_name constant text := 'usage_' || to_char(p_day, 'YYYYMMDD');
begin
  if to_regclass(format('keys.%I', v_name)) is not null then return; end if;
  execute format('create table keys.%I (like keys.usage including all)', v_name);
  execute format(
    'alter table keys.usage attach partition keys.%I for values from (%L) to (%L)',
    v_name, p_day::timestamp at time zone 'UTC', (p_day + 1)::timestamp at time zone 'UTC'
  );
end
$$;

-- Drops the partitions of days that ended at or before the given moment; returns how many.
create function keys.drop_usage_partitions(p_before timestamptz) returns integer language plpgsql as $$
declare
  v_name text;
  v_dropped integer := 0;
begin
  for v_name in
    select child.relname
    from pg_catalog.pg_inherits
    join pg_catalog.pg_class child on child.oid = inhrelid
    where inhparent = 'keys.usage'::regclass
      and to_date(substr(child.relname, 7), 'YYYYMMDD') + 1 <= (p_before at time zone 'UTC')::date
    order by child.relname
  loop
    execute format('drop table keys.%I', v_name);
    v_dropped := v_dropped + 1;
  end loop;
  return v_dropped;
end
$$;

select keys.add_usage_partition((now() at time zone 'UTC')::date + day) from generate_series(-1, 2) as day;
