-- When subscribers were last told that a stream is not intact, and how many faults it had then.
create table audit.alarms (
  tenant_id text collate "C" not null,
  stream_id text collate "C" not null,
  faults bigint not null,
  told_at timestamptz not null default now(),
  constraint alarms_pkey primary key (tenant_id, stream_id)
);
