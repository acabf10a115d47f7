create table webhooks.event (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  type text collate "C" not null,
  -- The bytes that were sent, which are the bytes that are signed.
  data json not null,
  idempotency_key text collate "C",
  order_key text collate "C",
  channels text[] collate "C" not null,
  delivery_count integer not null,
  created_at timestamptz(3) not null,
  constraint event_pkey primary key (tenant_id, id)
);
create index event_id on webhooks.event (id);
create index event_tenant_type on webhooks.event (tenant_id, type, id);

create table webhooks.idempotency (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  key text collate "C" not null,
  event_id text collate "C" not null,
  expires_at timestamptz(3) not null,
  constraint idempotency_pkey primary key (tenant_id, app_id, key)
);
create index idempotency_expires_at on webhooks.idempotency (expires_at);

-- The number of the last event with an order key, which was given under the lock on this row.
create table webhooks.order_head (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  order_key text collate "C" not null,
  number bigint not null,
  used_at timestamptz not null default now(),
  constraint order_head_pkey primary key (tenant_id, app_id, order_key)
);
create index order_head_used_at on webhooks.order_head (used_at);

-- Deliveries that have not ended: one that has moves to `delivery_done`, so this table stays small.
create table webhooks.delivery (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  event_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_type text collate "C" not null,
  state text collate "C" not null default 'pending',
  attempt_count smallint not null default 0,
  max_attempts smallint not null,
  next_attempt_at timestamptz not null default now(),
  last_status_code smallint,
  last_error text,
  last_response text,
  last_latency_ms integer,
  replay_of text collate "C",
  -- Whether it is a test, which leaves no dead letter and reaches a disabled endpoint, too.
  test boolean not null default false,
  -- In an ordered endpoint the deliveries of a key are attempted by number, each when the one before has ended.
  order_key text collate "C",
  order_number bigint,
  -- While `delivering`: the lease of the process that attempts it, and which of its claims this is.
  lease_id text collate "C",
  turn integer not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint delivery_pkey primary key (tenant_id, id),
  constraint delivery_state check (state in ('pending', 'delivering')),
  constraint delivery_lease check ((state = 'delivering') = (lease_id is not null))
) with (fillfactor = 70);
create index delivery_id on webhooks.delivery (id);
create index delivery_event on webhooks.delivery (tenant_id, event_id);
create index delivery_waiting on webhooks.delivery (endpoint_id, next_attempt_at, id) where state = 'pending';
create index delivery_in_flight on webhooks.delivery (endpoint_id) where state = 'delivering';
create index delivery_order on webhooks.delivery (endpoint_id, order_key, order_number) where order_key is not null;

-- Deliveries that have ended, until their retention is over.
create table webhooks.delivery_done (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  event_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_type text collate "C" not null,
  state text collate "C" not null,
  attempt_count smallint not null,
  max_attempts smallint not null,
  last_status_code smallint,
  last_error text,
  last_response text,
  last_latency_ms integer,
  replay_of text collate "C",
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  completed_at timestamptz(3) not null,
  constraint delivery_done_pkey primary key (tenant_id, id),
  constraint delivery_done_state check (state in ('delivered', 'failed', 'cancelled'))
);
create index delivery_done_id on webhooks.delivery_done (id);
create index delivery_done_endpoint on webhooks.delivery_done (tenant_id, endpoint_id, id);
create index delivery_done_event on webhooks.delivery_done (tenant_id, event_id);
create index delivery_done_unsuccessful on webhooks.delivery_done (tenant_id, endpoint_id, id) where state <> 'delivered';

create table webhooks.attempt (
  tenant_id text collate "C" not null,
  delivery_id text collate "C" not null,
  attempt smallint not null,
  id text collate "C" not null,
  url text not null,
  outcome text collate "C" not null,
  status_code smallint,
  error text,
  response text,
  latency_ms integer not null,
  started_at timestamptz(3) not null,
  constraint attempt_pkey primary key (tenant_id, delivery_id, attempt),
  constraint attempt_outcome check (outcome in ('delivered', 'retry', 'failed'))
);
create index attempt_started_at on webhooks.attempt (started_at);

create table webhooks.dlq (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  delivery_id text collate "C" not null,
  event_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_type text collate "C" not null,
  url text not null,
  payload json not null,
  error text not null,
  attempt_count smallint not null,
  last_status_code smallint,
  failed_at timestamptz(3) not null default now(),
  constraint dlq_pkey primary key (tenant_id, id),
  constraint dlq_error check (error <> '')
);
create index dlq_id on webhooks.dlq (id);
create index dlq_endpoint on webhooks.dlq (tenant_id, endpoint_id, id);
create index dlq_failed_at on webhooks.dlq (failed_at);
