-- Background jobs of all services. `src/db/engine` executes them; the service `jobs` shows them.

-- Live jobs only: a job that has ended moves to `job_done`, so this table stays small.
create table jobs.job (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  name text collate "C" not null,
  queue text collate "C" not null,
  state text collate "C" not null default 'pending',
  -- The negative priority, so that one ascending index gives the order of claims.
  rank smallint not null,
  -- As it was sent: `json` keeps what `jsonb` would refuse or reorder.
  payload json not null,
  tags text[] collate "C" not null,
  attempt smallint not null default 0,
  max_attempts smallint not null,
  -- To the microsecond: a rounded moment could lie in the future, and the job would not be due at once.
  run_at timestamptz not null,
  started_at timestamptz,
  timeout_ms integer not null,
  backoff_type text collate "C" not null,
  backoff_delay_ms integer not null,
  backoff_max_ms integer not null,
  unique_key text collate "C",
  last_error text,
  lost_count smallint not null default 0,
  lease_id text collate "C",
  -- Counts the claims. With the lease it tells one execution from every other one, whatever becomes of `attempt`.
  turn integer not null default 0,
  origin_id text collate "C",
  created_at timestamptz not null default now(),
  constraint job_pkey primary key (tenant_id, id),
  constraint job_state check (state in ('pending', 'retrying', 'running')),
  constraint job_lease check ((state = 'running') = (lease_id is not null))
) with (fillfactor = 70);
create index job_id on jobs.job (id);
create index job_waiting on jobs.job (queue, rank, app_id, tenant_id, run_at, id) where state in ('pending', 'retrying');
create index job_running on jobs.job (queue, app_id, tenant_id) where state = 'running';
create index job_retrying on jobs.job (tenant_id, id) where state = 'retrying';

-- Jobs that have ended, until their retention is over.
create table jobs.job_done (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  name text collate "C" not null,
  queue text collate "C" not null,
  state text collate "C" not null,
  rank smallint not null,
  payload json not null,
  tags text[] collate "C" not null,
  attempt smallint not null,
  max_attempts smallint not null,
  run_at timestamptz not null,
  started_at timestamptz,
  completed_at timestamptz not null default now(),
  timeout_ms integer not null,
  backoff_type text collate "C" not null,
  backoff_delay_ms integer not null,
  backoff_max_ms integer not null,
  unique_key text collate "C",
  output json,
  last_error text,
  lost_count smallint not null,
  turn integer not null,
  origin_id text collate "C",
  created_at timestamptz not null,
  constraint job_done_pkey primary key (tenant_id, id),
  constraint job_done_state check (state in ('completed', 'failed', 'cancelled'))
);
-- Ids begin with the time of creation, so the oldest jobs are found by id.
create index job_done_id on jobs.job_done (id);
create index job_done_queue on jobs.job_done (tenant_id, queue, id);
create index job_done_ended on jobs.job_done (tenant_id, id) where state <> 'completed';

-- Who holds a unique key: a live job, or until `expires_at` a job whatever becomes of it.
create table jobs.job_key (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  unique_key text collate "C" not null,
  job_id text collate "C" not null,
  expires_at timestamptz,
  constraint job_key_pkey primary key (tenant_id, app_id, unique_key)
);
create index job_key_expires_at on jobs.job_key (expires_at) where expires_at is not null;

-- The right to execute the jobs that carry its id. Its holder renews it; a lease that has expired may be ended by anyone.
create table jobs.lease (
  id text collate "C" not null,
  -- `process`: of a process that runs the engine; `http`: of an outside worker.
  kind text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  worker text not null,
  expires_at timestamptz not null,
  constraint lease_pkey primary key (id)
);

-- Limits of the queues, which each app sets for its own jobs. A queue without a row has none.
create table jobs.queue (
  app_id text collate "C" not null,
  name text collate "C" not null,
  max_concurrency integer not null default 0,
  tenant_concurrency integer not null default 0,
  rate_limit integer not null default 0,
  paused boolean not null default false,
  -- The theoretical arrival time of the next start, by which the rate is kept.
  tat timestamptz not null default '-infinity',
  updated_at timestamptz(3) not null default now(),
  constraint queue_pkey primary key (name, app_id)
);

-- Jobs that failed for good, kept for replay with all that a new job needs.
create table jobs.dlq (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  job_id text collate "C" not null,
  job_name text collate "C" not null,
  queue text collate "C" not null,
  error text not null,
  payload json not null,
  tags text[] collate "C" not null,
  rank smallint not null,
  attempt smallint not null,
  max_attempts smallint not null,
  timeout_ms integer not null,
  backoff_type text collate "C" not null,
  backoff_delay_ms integer not null,
  backoff_max_ms integer not null,
  failed_at timestamptz not null default now(),
  constraint dlq_pkey primary key (tenant_id, id),
  constraint dlq_error check (error <> '')
);
create index dlq_id on jobs.dlq (id);
create index dlq_queue on jobs.dlq (tenant_id, queue, id);
create index dlq_failed_at on jobs.dlq (failed_at);
create index dlq_job on jobs.dlq (tenant_id, job_id);

create table jobs.cron (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  name text collate "C" not null,
  schedule text not null,
  timezone text not null,
  enabled boolean not null,
  last_fired_at timestamptz(3),
  next_run_at timestamptz(3),
  job_name text collate "C" not null,
  queue text collate "C" not null,
  payload json not null,
  tags text[] collate "C" not null,
  rank smallint not null,
  max_attempts smallint not null,
  timeout_ms integer not null,
  backoff_type text collate "C" not null,
  backoff_delay_ms integer not null,
  backoff_max_ms integer not null,
  misfire text collate "C" not null,
  overlap text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint cron_pkey primary key (tenant_id, id),
  constraint cron_name_key unique (tenant_id, app_id, name),
  constraint cron_misfire check (misfire in ('once', 'skip')),
  constraint cron_overlap check (overlap in ('allow', 'skip')),
  constraint cron_next check (enabled or next_run_at is null)
);
create index cron_id on jobs.cron (id);
create index cron_due on jobs.cron (next_run_at) where enabled;
