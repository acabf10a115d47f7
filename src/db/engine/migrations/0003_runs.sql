-- Durable workflows: a run is executed by a job, and what its code did is answered from its steps.

create table jobs.workflow (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  name text collate "C" not null,
  version integer not null,
  description text not null,
  -- `code`: registered by a process of the platform; `http`: by a request.
  source text collate "C" not null,
  max_attempts smallint not null,
  timeout_ms integer not null,
  backoff_type text collate "C" not null,
  backoff_delay_ms integer not null,
  backoff_max_ms integer not null,
  updated_at timestamptz(3) not null default now(),
  constraint workflow_pkey primary key (tenant_id, app_id, name, version),
  constraint workflow_source check (source in ('code', 'http'))
);

create table jobs.run (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  name text collate "C" not null,
  version integer not null,
  state text collate "C" not null default 'running',
  input json not null,
  output json,
  error text,
  key text collate "C",
  -- The job that executes it now, or did so last.
  job_id text collate "C" not null,
  current_step text collate "C",
  waiting_for text collate "C",
  wake_at timestamptz,
  step_count integer not null default 0,
  signal_count integer not null default 0,
  started_at timestamptz(3) not null default now(),
  completed_at timestamptz(3),
  constraint run_pkey primary key (tenant_id, id),
  constraint run_key unique (tenant_id, app_id, name, key),
  constraint run_state check (state in ('running', 'completed', 'failed')),
  constraint run_waiting check (waiting_for in ('timer', 'signal', 'retry'))
);
create index run_id on jobs.run (id);
create index run_by_state on jobs.run (tenant_id, state, id);
create index run_by_name on jobs.run (tenant_id, name, id);
create index run_job on jobs.run (tenant_id, job_id);
create index run_completed_at on jobs.run (completed_at) where completed_at is not null;

create table jobs.step (
  tenant_id text collate "C" not null,
  run_id text collate "C" not null,
  name text collate "C" not null,
  -- The order in which the steps of a run began.
  seq integer not null,
  state text collate "C" not null,
  attempt smallint not null default 1,
  output json,
  error text,
  -- While it waits: the signal for which it does, and until when.
  signal text collate "C",
  wake_at timestamptz,
  started_at timestamptz(3) not null,
  completed_at timestamptz(3),
  constraint step_pkey primary key (tenant_id, run_id, name),
  constraint step_state check (state in ('retrying', 'waiting', 'completed', 'failed'))
);
create unique index step_seq on jobs.step (tenant_id, run_id, seq);

create table jobs.signal (
  tenant_id text collate "C" not null,
  run_id text collate "C" not null,
  seq integer not null,
  name text collate "C" not null,
  payload json not null,
  -- The sender's id, by which a second signal is recognised as the same.
  dedup_id text collate "C",
  -- The step that received it.
  step text collate "C",
  created_at timestamptz(3) not null default now(),
  constraint signal_pkey primary key (tenant_id, run_id, seq)
);
create unique index signal_dedup on jobs.signal (tenant_id, run_id, dedup_id) where dedup_id is not null;
create index signal_waiting on jobs.signal (tenant_id, run_id, name, seq) where step is null;
