-- Event types belong to an app, endpoints to a tenant of it.

create table webhooks.event_type (
  app_id text collate "C" not null,
  name text collate "C" not null,
  description text not null,
  "group" text collate "C" not null,
  version text not null,
  -- As it was sent: `json` keeps the order of keys.
  schema json,
  -- Tells the processes whether the validator that they compiled is that of the stored schema.
  schema_hash text,
  example json,
  deprecated_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint event_type_pkey primary key (app_id, name)
);

create table webhooks.endpoint (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  uid text collate "C",
  url text not null,
  description text not null,
  event_types text[] collate "C" not null,
  -- An event reaches it when it has one of these channels, or always when there are none.
  channels text[] collate "C" not null,
  ordered boolean not null,
  -- The names and values as sent; a secret value is shown as `********` and is in `sealed_headers`, under the same name.
  headers json not null,
  sealed_headers bytea,
  rate_limit integer not null,
  metadata json not null,
  enabled boolean not null,
  disabled_reason text,
  payload_format text not null,
  max_concurrency integer not null,
  timeout_ms integer not null,
  max_attempts smallint not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- A deleted endpoint stays until its deliveries are cancelled.
  deleted_at timestamptz(3),
  constraint endpoint_pkey primary key (tenant_id, id),
  constraint endpoint_disabled check (enabled or disabled_reason is not null)
);
create index endpoint_id on webhooks.endpoint (id);
create index endpoint_app on webhooks.endpoint (tenant_id, app_id, id) where deleted_at is null;
create unique index endpoint_uid on webhooks.endpoint (tenant_id, app_id, uid) where deleted_at is null;

-- How many endpoints a tenant has: the row in which a new one takes its place.
create table webhooks.endpoint_count (
  tenant_id text collate "C" not null,
  endpoints integer not null,
  constraint endpoint_count_pkey primary key (tenant_id)
);

-- One row for each pattern of an enabled endpoint, by which an event finds its endpoints.
create table webhooks.subscription (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  pattern text collate "C" not null,
  endpoint_id text collate "C" not null,
  constraint subscription_pkey primary key (tenant_id, app_id, pattern, endpoint_id)
);
create index subscription_endpoint on webhooks.subscription (tenant_id, endpoint_id);

create table webhooks.endpoint_secret (
  tenant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  id text collate "C" not null,
  box bytea not null,
  -- Null is the current secret; an earlier one signs until then.
  valid_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint endpoint_secret_pkey primary key (tenant_id, endpoint_id, id)
);
create unique index endpoint_secret_current on webhooks.endpoint_secret (tenant_id, endpoint_id) where valid_until is null;
