-- Rules belong to an app; scans, assignments and sealed originals to a tenant.

-- The row that a write of rules locks. It counts what an app may have a limited number of.
create table safety.app (
  app_id text collate "C" not null,
  revision bigint not null,
  instinct integer not null default 0,
  awareness integer not null default 0,
  boundary integer not null default 0,
  value integer not null default 0,
  judgment integer not null default 0,
  reflex integer not null default 0,
  profile integer not null default 0,
  policy integer not null default 0,
  keywords integer not null default 0,
  expressions integer not null default 0,
  instructions integer not null default 0,
  constraint app_pkey primary key (app_id)
);

-- Primitives, profiles and policies: what all of them have as columns, and what is of their kind in `body`.
create table safety.rule (
  app_id text collate "C" not null,
  kind text collate "C" not null,
  id text collate "C" not null,
  name text collate "C" not null,
  enabled boolean not null,
  -- The values by which a list of the kind can be filtered, such as the category of an instinct.
  facets text[] collate "C" not null,
  -- The ids of the rules to which it refers: the primitives of a profile, or the profile of a policy.
  refs text[] collate "C" not null,
  -- As it was sent, but with ids in place of the names of other rules; `json` keeps the order of its members.
  body json not null,
  -- What it takes of the app's limits.
  keywords integer not null,
  expressions integer not null,
  instructions integer not null,
  revision bigint not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint rule_pkey primary key (app_id, id),
  constraint rule_name_key unique (app_id, kind, name)
);
create index rule_newest on safety.rule (app_id, kind, created_at desc, id desc);

create table safety.assignment (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  policy_id text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  constraint assignment_pkey primary key (tenant_id, app_id, policy_id),
  constraint assignment_policy foreign key (app_id, policy_id) references safety.rule (app_id, id) on delete cascade
);
create index assignment_newest on safety.assignment (app_id, policy_id, created_at desc, tenant_id desc);

-- Results of scans. Their ids begin with the millisecond of `created_at`, so that ranges of time are ranges of ids.
create table safety.scan (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  direction text collate "C" not null,
  decision text collate "C" not null,
  user_id text collate "C" not null,
  profile_used text collate "C" not null,
  -- The other members of the result.
  body json not null,
  constraint scan_pkey primary key (tenant_id, id)
);
create index scan_age on safety.scan (id);
create index scan_direction on safety.scan (tenant_id, direction, id);
create index scan_decision on safety.scan (tenant_id, decision, id) where decision <> 'allow';
create index scan_user on safety.scan (tenant_id, user_id, id) where user_id <> '';
create index scan_profile on safety.scan (tenant_id, profile_used, id);

-- The number of scans by hour. Each process adds to a slot of its own, so that processes do not wait for each other.
create table safety.scan_count (
  tenant_id text collate "C" not null,
  hour timestamptz(3) not null,
  direction text collate "C" not null,
  decision text collate "C" not null,
  slot smallint not null,
  n bigint not null,
  constraint scan_count_pkey primary key (tenant_id, hour, direction, decision, slot)
);
create index scan_count_slots on safety.scan_count (hour) where slot <> 0;

-- The data key of a tenant's vault, sealed by the master key. A destroyed one makes everything sealed with it unreadable.
create table safety.vault_key (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  wrapped bytea,
  created_at timestamptz(3) not null default now(),
  destroyed_at timestamptz(3),
  constraint vault_key_pkey primary key (tenant_id, id),
  constraint vault_key_destroyed check ((wrapped is null) = (destroyed_at is not null))
);
create unique index vault_key_id on safety.vault_key (id);
create unique index vault_key_live on safety.vault_key (tenant_id) where destroyed_at is null;
create index vault_key_seal on safety.vault_key (substring(wrapped from 2 for 4)) where wrapped is not null;

create table safety.vault_token (
  tenant_id text collate "C" not null,
  -- The label and the token: `EMAIL_pwdhqk8ttd`.
  token text collate "C" not null,
  key_id text collate "C" not null,
  name text collate "C" not null,
  -- The whole digest of which the token is the beginning.
  digest bytea not null,
  sealed bytea not null,
  expires_at timestamptz(3) not null,
  constraint vault_token_pkey primary key (tenant_id, token)
);
create index vault_token_expiry on safety.vault_token (expires_at);
create index vault_token_key on safety.vault_token (tenant_id, key_id);

-- Which scans a token stands for; it goes with the last of them.
create table safety.vault_ref (
  tenant_id text collate "C" not null,
  token text collate "C" not null,
  scan_id text collate "C" not null,
  user_id text collate "C" not null,
  constraint vault_ref_pkey primary key (tenant_id, token, scan_id),
  constraint vault_ref_token foreign key (tenant_id, token) references safety.vault_token (tenant_id, token) on delete cascade
);
create index vault_ref_scan on safety.vault_ref (tenant_id, scan_id);
create index vault_ref_user on safety.vault_ref (tenant_id, user_id);
