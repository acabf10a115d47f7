-- Periodic work of the services, once for all processes.
create table jobs.sweep (
  name text collate "C" not null,
  -- The lease of the process in which it runs. Once that lease has ended, the sweep is free again.
  lease_id text collate "C",
  due_at timestamptz not null default now(),
  constraint sweep_pkey primary key (name)
);
