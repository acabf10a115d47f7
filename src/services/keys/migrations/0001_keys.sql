-- Ids and names are compared byte by byte (collate "C"), which is the order that lists promise.
create schema if not exists keys;

-- Which tenant a raw key belongs to, by the tag inside it: a lookup knows its tenant before it reads.
create table keys.tenants (
  tag text collate "C" not null,
  tenant_id text collate "C" not null,
  constraint tenants_tag primary key (tag),
  constraint tenants_tenant unique (tenant_id),
  constraint tenants_tag_form check (tag ~ '^[0-9A-Za-z]{6}$')
);

-- Durations are kept as they are answered: canonical, without zero units.
create table keys.policies (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text not null,
  name text collate "C" not null,
  description text not null,
  rate_limit integer not null,
  rate_window text not null,
  allowed_ips text[] not null,
  allowed_origins text[] not null,
  max_key_age text,
  allowed_scopes text[] not null,
  grace_period text not null,
  require_context boolean not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint policies_name unique (tenant_id, name),
  constraint policies_rate_limit check (rate_limit between 0 and 100000000)
);
create index policies_newest on keys.policies (tenant_id, created_at desc, id);
create index policies_age on keys.policies (tenant_id) where max_key_age is not null;

create table keys.scopes (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text not null,
  name text collate "C" not null,
  description text not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint scopes_name unique (tenant_id, name)
);

-- A key without a row in `policies` has no limits. Only keys that can no longer be used lose theirs by its deletion.
-- `suspended_at` stays set while a suspended key is expired, so that extending it does not end the suspension.
-- `warned_for` and `warned_days` say which deadline the last `expiring` event was about.
create table keys.keys (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text not null,
  name text not null,
  description text not null,
  prefix text not null,
  environment text collate "C" not null,
  state text collate "C" not null default 'active',
  hint text not null,
  scopes text[] collate "C" not null,
  policy_id text collate "C",
  owner_id text collate "C",
  metadata jsonb not null,
  expires_at timestamptz(3),
  secret_created_at timestamptz(3) not null default now(),
  rotated_at timestamptz(3),
  last_used_at timestamptz(3),
  suspended_at timestamptz(3),
  revoked_at timestamptz(3),
  revoke_reason text,
  warned_for timestamptz(3),
  warned_days integer,
  deleted_at timestamptz(3),
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint keys_policy foreign key (tenant_id, policy_id) references keys.policies (tenant_id, id)
    on delete set null (policy_id),
  constraint keys_state check (state in ('active', 'suspended', 'expired', 'revoked'))
);
create index keys_newest on keys.keys (tenant_id, created_at desc, id) where deleted_at is null;
create index keys_in_state on keys.keys (tenant_id, state, created_at desc, id) where deleted_at is null;
create index keys_of_environment on keys.keys (tenant_id, environment, created_at desc, id) where deleted_at is null;
create index keys_of_policy on keys.keys (tenant_id, policy_id, secret_created_at) include (state, deleted_at)
  where policy_id is not null;
create index keys_owner on keys.keys (tenant_id, owner_id, created_at desc, id) where owner_id is not null;
create index keys_scopes on keys.keys using gin (scopes);
create index keys_expiry on keys.keys (expires_at) where state in ('active', 'suspended') and deleted_at is null;
create index keys_deleted on keys.keys (deleted_at) where deleted_at is not null;

-- A secret is current while both times are null, in grace until `grace_ends_at`, and then dead: its hash stays 30 days.
create table keys.secrets (
  tenant_id text collate "C" not null,
  hash bytea not null,
  key_id text collate "C" not null,
  hint text not null,
  created_at timestamptz(3) not null default now(),
  grace_ends_at timestamptz(3),
  dead_at timestamptz(3),
  constraint secrets_hash primary key (tenant_id, hash),
  constraint secrets_key foreign key (tenant_id, key_id) references keys.keys (tenant_id, id) on delete cascade
);
create unique index secrets_current on keys.secrets (tenant_id, key_id) where grace_ends_at is null and dead_at is null;
create index secrets_of_key on keys.secrets (tenant_id, key_id);
create index secrets_age on keys.secrets (coalesce(dead_at, grace_ends_at))
  where coalesce(dead_at, grace_ends_at) is not null;

create table keys.rotations (
  id text collate "C" not null,
  key_id text collate "C" not null,
  tenant_id text collate "C" not null,
  reason text not null,
  grace_period text not null,
  grace_ends_at timestamptz(3) not null,
  rotated_by text not null,
  old_hint text not null,
  new_hint text not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint rotations_key foreign key (tenant_id, key_id) references keys.keys (tenant_id, id) on delete cascade
);
create index rotations_newest on keys.rotations (tenant_id, key_id, created_at desc, id);

create table keys.outbox (
  tenant_id text collate "C" not null,
  seq bigint generated always as identity,
  id text collate "C" not null,
  type text not null,
  subject text not null,
  app_id text not null,
  actor text not null,
  data jsonb not null,
  time timestamptz(3) not null default now(),
  constraint outbox_pkey primary key (tenant_id, seq)
);

create table keys.changes (
  seq bigint generated always as identity,
  kind text collate "C" not null,
  id text collate "C" not null,
  xid xid8 not null default pg_current_xact_id(),
  horizon xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
  at timestamptz(3) not null default now(),
  constraint changes_pkey primary key (seq),
  constraint changes_kind check (kind in ('key', 'policy', 'tenant'))
);
create index changes_xid on keys.changes (xid);
create index changes_at on keys.changes (at);
