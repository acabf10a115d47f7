-- Chains of events, one for each tenant and app.

create table audit.streams (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  head_seq bigint not null default 0,
  head_hash bytea not null,
  -- The time of the last event: that of the next one is never earlier.
  head_at timestamptz(3) not null default '-infinity',
  -- Encrypted with the master key. It hides persons and resources in the columns by which events are found.
  index_key bytea not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint streams_pkey primary key (tenant_id, id),
  constraint streams_app_key unique (tenant_id, app_id)
);
create index streams_id on audit.streams (id);
create index streams_app on audit.streams (app_id, id);

-- What is hashed, and how events are found. Of a purged event only the keys, the hash and the run that purged it remain.
create table audit.events (
  tenant_id text collate "C" not null,
  stream_id text collate "C" not null,
  sequence bigint not null,
  hash bytea not null,
  id text collate "C",
  app_id text collate "C",
  timestamp timestamptz(3),
  recorded_at timestamptz(3),
  recorded_by text,
  source text collate "C",
  actor_type text collate "C",
  action text collate "C",
  resource text collate "C",
  category text collate "C",
  outcome text collate "C",
  severity text collate "C",
  salt bytea,
  actor bytea,
  content bytea,
  actor_key bytea,
  content_key bytea,
  actor_ref bytea,
  subject_ref bytea,
  resource_ref bytea,
  erasure_id text collate "C",
  run_id text collate "C",
  constraint events_pkey primary key (tenant_id, stream_id, sequence),
  constraint events_remains check ((id is null) = (run_id is not null))
);
create unique index events_id on audit.events (id) where id is not null;
create index events_timestamp on audit.events (tenant_id, app_id, timestamp, sequence) where id is not null;
create index events_category on audit.events (tenant_id, app_id, category, timestamp, sequence) where id is not null;
create index events_actor on audit.events (tenant_id, actor_ref, timestamp, sequence) where actor_ref is not null;
create index events_subject on audit.events (tenant_id, subject_ref, timestamp, sequence) where subject_ref is not null;
create index events_resource on audit.events (tenant_id, resource_ref, timestamp, sequence) where resource_ref is not null;
create index events_exceptions on audit.events (tenant_id, app_id, timestamp, sequence)
  where severity <> 'info' or outcome <> 'success';

-- Nothing deletes an event, and all that may change is how it is found, when a person is erased, or that it is purged.
create function audit.events_stay() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.run_id is null and new.hash = old.hash
    and (new.tenant_id, new.stream_id, new.sequence) = (old.tenant_id, old.stream_id, old.sequence)
  then
    if new.run_id is not null then
      if (new.app_id, new.timestamp, new.recorded_at, new.recorded_by, new.source, new.actor_type, new.action, new.resource, new.category,
        new.outcome, new.severity, new.salt, new.actor, new.content, new.actor_key, new.content_key, new.actor_ref, new.subject_ref,
        new.resource_ref, new.erasure_id) is null
      then return new; end if;
    elsif row(new.id, new.app_id, new.timestamp, new.recorded_at, new.recorded_by, new.source, new.actor_type, new.action, new.resource,
        new.category, new.outcome, new.severity, new.salt, new.actor, new.content, new.actor_key, new.content_key)
      is not distinct from row(old.id, old.app_id, old.timestamp, old.recorded_at, old.recorded_by, old.source, old.actor_type, old.action,
        old.resource, old.category, old.outcome, old.severity, old.salt, old.actor, old.content, old.actor_key, old.content_key)
      and (new.actor_ref is null or new.actor_ref = old.actor_ref)
      and (new.subject_ref is null or new.subject_ref = old.subject_ref)
      and (new.resource_ref is null or new.resource_ref = old.resource_ref)
    then return new; end if;
  end if;
  raise exception 'events of the audit log are not changed or deleted' using errcode = 'integrity_constraint_violation';
end $$;
create trigger events_stay before update or delete on audit.events for each row execute function audit.events_stay();
create trigger events_stay_whole before truncate on audit.events for each statement execute function audit.events_stay();

-- The keys of persons, encrypted with the master key. Erasing a person deletes the row.
create table audit.subject_keys (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  ref bytea not null,
  wrapped bytea not null,
  constraint subject_keys_pkey primary key (tenant_id, app_id, ref)
);

-- Idempotency keys, as digests.
create table audit.event_keys (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  key bytea not null,
  event_id text collate "C" not null,
  digest bytea not null,
  expires_at timestamptz not null,
  constraint event_keys_pkey primary key (tenant_id, app_id, key)
);
create index event_keys_expires_at on audit.event_keys (expires_at);
create index event_keys_event on audit.event_keys (event_id);

create table audit.erasures (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  subject_id text not null,
  reason text not null,
  requested_by text not null,
  events_affected bigint not null,
  key_destroyed boolean not null,
  -- What is still to be marked: the events of this person up to this one. Null once they are.
  ref bytea,
  sequence bigint,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint erasures_pkey primary key (tenant_id, id)
);
create index erasures_id on audit.erasures (id);
create index erasures_app on audit.erasures (app_id, id);
create index erasures_unmarked on audit.erasures (id) where ref is not null;

create table audit.retention_policies (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  category text collate "C" not null,
  duration text not null,
  duration_ms bigint not null,
  archive boolean not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint retention_policies_pkey primary key (tenant_id, id),
  constraint retention_policies_category_key unique (tenant_id, app_id, category)
);
create index retention_policies_id on audit.retention_policies (id);
create index retention_policies_app on audit.retention_policies (app_id, id);

create table audit.archives (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  policy_id text collate "C" not null,
  category text collate "C" not null,
  event_count bigint not null,
  from_timestamp timestamptz(3) not null,
  to_timestamp timestamptz(3) not null,
  sink_name text not null,
  sink_ref text not null,
  stream_id text collate "C" not null,
  first_sequence bigint not null,
  last_sequence bigint not null,
  sha256 text not null,
  size_bytes bigint not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint archives_pkey primary key (tenant_id, id)
);
create index archives_id on audit.archives (id);
create index archives_app on audit.archives (app_id, id);

-- Reports without personal data: the events that they show are stored as sequence numbers and read when the report is.
create table audit.reports (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  title text not null,
  type text collate "C" not null,
  generated_by text not null,
  period_from timestamptz(3) not null,
  period_to timestamptz(3) not null,
  stats jsonb not null,
  findings jsonb not null,
  sections jsonb not null,
  verification jsonb,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint reports_pkey primary key (tenant_id, id)
);
create index reports_id on audit.reports (id);
create index reports_app on audit.reports (app_id, id);
