alter table auth.clients
  add column backchannel_logout_uri text,
  add column backchannel_logout_session_required boolean not null default false;

-- What clients are still to be told of sessions that ended. `sid` is what the session is called towards that client alone.
create table auth.logouts (
  tenant_id text collate "C" not null,
  client_id text collate "C" not null,
  sid text collate "C" not null,
  user_id text collate "C" not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz(3) not null default now(),
  claimed_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, client_id, sid)
);
create index logouts_due on auth.logouts (next_attempt_at);

-- Devices that wait for a user: by what the user types, and how often they ask.
alter table auth.oidc
  add column user_code_hash bytea,
  add column polled_at timestamptz(3),
  add column poll_seconds integer;
create unique index oidc_user_code on auth.oidc (user_code_hash) where user_code_hash is not null;

-- Codes of devices that were tried from a network and are none. A code is found without a tenant, so the key has none.
create table auth.device_tries (
  network bytea not null,
  tries integer not null,
  since timestamptz(3) not null default now(),
  primary key (network)
);
create index device_tries_age on auth.device_tries (since);

-- Clients that registered themselves, by the token with which they change their registration, and how many there are of an app.
alter table auth.clients
  add column self_registered boolean not null default false,
  add column registration_hash bytea;

create table auth.registration_counts (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  clients integer not null,
  primary key (tenant_id, app_id)
);
