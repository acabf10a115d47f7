-- Ids and names are compared byte by byte (collate "C"), which is the order that lists promise. Secrets are stored as SHA-256
-- (`…_hash`) or sealed (`…_box`). What belongs to one app carries `app_id`; what belongs to a record of an app is found through it.
create schema if not exists auth;

-- Directories: which tenant a token, a publishable key, an app or a client belongs to, known before anything is looked up.
create table auth.tenants (
  tag text collate "C" not null,
  tenant_id text collate "C" not null,
  constraint tenants_tag primary key (tag),
  constraint tenants_tenant unique (tenant_id),
  constraint tenants_tag_form check (tag ~ '^[0-9A-Za-z]{6}$')
);

create table auth.directory (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  constraint directory_id primary key (id)
);

create table auth.publishable_keys (
  key text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  constraint publishable_keys_key primary key (key)
);
create index publishable_keys_of_app on auth.publishable_keys (tenant_id, app_id, created_at);

create table auth.apps (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  name text not null,
  slug text collate "C" not null,
  is_default boolean not null default false,
  settings jsonb not null,
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id)
);
create unique index apps_slug on auth.apps (tenant_id, slug) where deleted_at is null;
create unique index apps_default on auth.apps (tenant_id) where is_default;
create index apps_newest on auth.apps (tenant_id, created_at desc, id);

create table auth.users (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  email text collate "C",
  username text collate "C",
  name text,
  image text,
  email_verified boolean not null default false,
  phone text collate "C",
  phone_verified boolean not null default false,
  password_hash text,
  password_changed_at timestamptz(3),
  banned boolean not null default false,
  ban_reason text,
  ban_expires_at timestamptz(3),
  last_signin_at timestamptz(3),
  metadata jsonb not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint users_email unique (tenant_id, app_id, email),
  constraint users_phone unique (tenant_id, app_id, phone)
);
create unique index users_username on auth.users (tenant_id, app_id, lower(username));
create index users_newest on auth.users (tenant_id, app_id, created_at desc, id);
create index users_email_prefix on auth.users (tenant_id, app_id, email text_pattern_ops);
create index users_name_prefix on auth.users (tenant_id, app_id, lower(name) text_pattern_ops);

-- A session that ended, as `revoked_at` notes, keeps its row for 30 days, without hashes. A `hosted` session is a browser's at the
-- OAuth pages: it has no tokens of its own and `expires_at` is its end. `retry_…` is the last answer of a refresh, for its repeat
-- with the same key.
create table auth.sessions (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  kind text collate "C" not null,
  org_id text collate "C",
  ip_address text,
  user_agent text,
  device_id text collate "C",
  impersonated_by text collate "C",
  impersonator_session_id text collate "C",
  token_hash bytea,
  refresh_hash bytea,
  expires_at timestamptz(3) not null,
  refresh_expires_at timestamptz(3) not null,
  rotated_at timestamptz(3),
  retry_key text,
  retry_box bytea,
  oidc_uid text collate "C",
  authenticated_at timestamptz(3) not null default now(),
  last_active_at timestamptz(3) not null default now(),
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint sessions_token unique (tenant_id, token_hash),
  constraint sessions_refresh unique (tenant_id, refresh_hash),
  constraint sessions_kind check (kind in ('api', 'hosted', 'impersonation'))
);
create index sessions_of_user on auth.sessions (tenant_id, user_id, created_at desc, id);
create index sessions_of_device on auth.sessions (tenant_id, device_id) where revoked_at is null and device_id is not null;
create index sessions_of_organization on auth.sessions (tenant_id, org_id) where org_id is not null;
create index sessions_of_impersonator on auth.sessions (tenant_id, impersonator_session_id)
  where impersonator_session_id is not null;
create index sessions_impersonated_by on auth.sessions (tenant_id, impersonated_by) where impersonated_by is not null;
create index sessions_oidc on auth.sessions (oidc_uid) where oidc_uid is not null;
create index sessions_end on auth.sessions (refresh_expires_at) where revoked_at is null;
create index sessions_ended on auth.sessions (revoked_at) where revoked_at is not null;

create table auth.spent_refresh (
  tenant_id text collate "C" not null,
  hash bytea not null,
  session_id text collate "C" not null,
  spent_at timestamptz(3) not null default now(),
  primary key (tenant_id, hash)
);
create index spent_refresh_of_session on auth.spent_refresh (tenant_id, session_id);

-- Failed sign-ins by key: an account seen from a network, an account, or a known device. `account` is the account of each.
create table auth.throttles (
  tenant_id text collate "C" not null,
  hash bytea not null,
  account bytea not null,
  failures integer not null,
  last_at timestamptz(3) not null default now(),
  primary key (tenant_id, hash)
);
create index throttles_age on auth.throttles (last_at);
create index throttles_of_account on auth.throttles (tenant_id, account);

create table auth.devices (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  user_id text collate "C" not null,
  name text not null,
  type text collate "C" not null,
  browser text,
  os text,
  user_agent text not null,
  ip_address text,
  token_hash bytea not null,
  trusted_until timestamptz(3),
  last_seen_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint devices_token unique (tenant_id, token_hash),
  constraint devices_type check (type in ('desktop', 'mobile', 'tablet', 'unknown'))
);
create index devices_of_user on auth.devices (tenant_id, user_id, created_at desc, id);

create table auth.enrollments (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  user_id text collate "C" not null,
  method text collate "C" not null,
  verified boolean not null default false,
  phone text,
  secret_box bytea,
  last_step bigint,
  pending_codes bytea[],
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  primary key (tenant_id, id),
  constraint enrollments_method_word check (method in ('totp', 'sms'))
);
create index enrollments_age on auth.enrollments (created_at) where not verified;
create unique index enrollments_verified on auth.enrollments (tenant_id, user_id, method) where verified;
create unique index enrollments_unverified on auth.enrollments (tenant_id, user_id, method) where not verified;

create table auth.recovery_codes (
  tenant_id text collate "C" not null,
  user_id text collate "C" not null,
  hash bytea not null,
  primary key (tenant_id, user_id, hash)
);

-- When texts went to a number, over all that they were for. The number itself is not kept.
create table auth.text_sends (
  tenant_id text collate "C" not null,
  phone_mac bytea not null,
  sent_at timestamptz(3)[] not null default '{}',
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, phone_mac)
);
create index text_sends_age on auth.text_sends (updated_at);

create table auth.challenges (
  tenant_id text collate "C" not null,
  hash bytea not null,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  method text collate "C" not null,
  device_id text collate "C",
  attempts integer not null default 0,
  code_mac bytea,
  code_expires_at timestamptz(3),
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, hash)
);
create index challenges_end on auth.challenges (expires_at);
create index challenges_of_user on auth.challenges (tenant_id, user_id);

-- Tokens and codes that travel in messages. `subject` is who or what the message was for: a user, an invitation, a phone number.
-- A newer one of the same purpose and subject replaces the older one.
create table auth.one_time (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  purpose text collate "C" not null,
  subject text collate "C" not null,
  hash bytea not null,
  attempts integer not null default 0,
  data jsonb not null default '{}',
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  constraint one_time_subject primary key (tenant_id, app_id, purpose, subject),
  constraint one_time_purpose check (purpose in ('verify_email', 'reset_password', 'phone_signin', 'phone_enrollment'))
);
create index one_time_hash on auth.one_time (tenant_id, hash);
create index one_time_end on auth.one_time (expires_at);

create table auth.roles (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  name text not null,
  slug text collate "C" not null,
  description text not null,
  parent_id text collate "C",
  system boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint roles_slug unique (tenant_id, app_id, slug)
);
create index roles_newest on auth.roles (tenant_id, app_id, created_at desc, id);
create index roles_children on auth.roles (tenant_id, parent_id) where parent_id is not null;

create table auth.permissions (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  role_id text collate "C" not null,
  action text collate "C" not null,
  resource text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint permissions_right unique (tenant_id, role_id, resource, action),
  constraint permissions_role foreign key (tenant_id, role_id) references auth.roles (tenant_id, id) on delete cascade
);

-- `org_id` is '' for an assignment that holds in the whole app.
create table auth.assignments (
  tenant_id text collate "C" not null,
  user_id text collate "C" not null,
  role_id text collate "C" not null,
  org_id text collate "C" not null default '',
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, user_id, role_id, org_id),
  constraint assignments_role foreign key (tenant_id, role_id) references auth.roles (tenant_id, id) on delete cascade
);
create index assignments_of_role on auth.assignments (tenant_id, role_id);
create index assignments_of_organization on auth.assignments (tenant_id, org_id) where org_id <> '';

create table auth.organizations (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  name text not null,
  slug text collate "C" not null,
  logo text,
  metadata jsonb not null default '{}',
  member_count integer not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint organizations_slug unique (tenant_id, app_id, slug)
);
-- A branded sign-in page knows nothing but the organization.
create index organizations_id on auth.organizations (id);
create index organizations_newest on auth.organizations (tenant_id, app_id, created_at desc, id);

create table auth.members (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  org_id text collate "C" not null,
  user_id text collate "C" not null,
  role text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint members_user unique (tenant_id, org_id, user_id),
  constraint members_organization foreign key (tenant_id, org_id)
    references auth.organizations (tenant_id, id) on delete cascade,
  constraint members_role check (role in ('owner', 'admin', 'member'))
);
create index members_newest on auth.members (tenant_id, org_id, created_at desc, id);
create index members_of_user on auth.members (tenant_id, user_id);

create table auth.invitations (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  org_id text collate "C" not null,
  email text collate "C" not null,
  role text collate "C" not null,
  status text collate "C" not null default 'pending',
  invited_by text collate "C",
  token_hash bytea not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint invitations_token unique (tenant_id, token_hash),
  constraint invitations_organization foreign key (tenant_id, org_id)
    references auth.organizations (tenant_id, id) on delete cascade
);
create unique index invitations_pending on auth.invitations (tenant_id, org_id, email) where status = 'pending';
create index invitations_of_email on auth.invitations (tenant_id, email);
create index invitations_by on auth.invitations (tenant_id, invited_by) where invited_by is not null;
create index invitations_newest on auth.invitations (tenant_id, org_id, created_at desc, id);

create table auth.teams (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  org_id text collate "C" not null,
  name text not null,
  slug text collate "C" not null,
  member_count integer not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint teams_slug unique (tenant_id, org_id, slug),
  constraint teams_organization foreign key (tenant_id, org_id)
    references auth.organizations (tenant_id, id) on delete cascade
);
create index teams_newest on auth.teams (tenant_id, org_id, created_at desc, id);

create table auth.team_members (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  team_id text collate "C" not null,
  user_id text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint team_members_user unique (tenant_id, team_id, user_id),
  constraint team_members_team foreign key (tenant_id, team_id) references auth.teams (tenant_id, id) on delete cascade
);
create index team_members_of_user on auth.team_members (tenant_id, user_id);

create table auth.forms (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  form_type text collate "C" not null,
  fields jsonb not null,
  active boolean not null,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id)
);
create unique index forms_active on auth.forms (tenant_id, app_id, form_type) where active;
create index forms_newest on auth.forms (tenant_id, app_id, created_at desc, id);

-- `org_id` is '' for the branding of the app itself.
create table auth.branding (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  org_id text collate "C" not null default '',
  logo_url text,
  primary_color text not null,
  background_color text not null,
  accent_color text not null,
  font_family text not null,
  company_name text not null,
  tagline text not null,
  custom_css text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint branding_owner unique (tenant_id, app_id, org_id)
);

create table auth.webhooks (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  url text not null,
  events text[] not null,
  active boolean not null default true,
  disabled_reason text,
  secret_box bytea not null,
  previous_secret_box bytea,
  previous_until timestamptz(3),
  last_success_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id)
);
create index webhooks_newest on auth.webhooks (tenant_id, app_id, created_at desc, id);

create table auth.deliveries (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  webhook_id text collate "C" not null,
  event_id text collate "C" not null,
  event text not null,
  body text not null,
  state text collate "C" not null default 'pending',
  attempts integer not null default 0,
  status_code integer,
  error text,
  next_attempt_at timestamptz(3) default now(),
  claimed_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint deliveries_webhook foreign key (tenant_id, webhook_id)
    references auth.webhooks (tenant_id, id) on delete cascade,
  constraint deliveries_state check (state in ('pending', 'delivered', 'failed'))
);
create index deliveries_due on auth.deliveries (next_attempt_at) where state = 'pending';
create index deliveries_of_event on auth.deliveries (tenant_id, event_id);
create index deliveries_newest on auth.deliveries (tenant_id, webhook_id, created_at desc, id);

create table auth.messages (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  channel text collate "C" not null,
  recipient text collate "C" not null,
  kind text collate "C" not null,
  user_id text collate "C",
  subject text not null,
  -- Text, token and code, sealed; null once they were handed over.
  content_box bytea,
  state text collate "C" not null default 'queued',
  attempts integer not null default 0,
  next_attempt_at timestamptz(3) not null default now(),
  claimed_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint messages_state check (state in ('queued', 'sent', 'failed'))
);
create index messages_due on auth.messages (next_attempt_at) where state = 'queued';
create index messages_of_user on auth.messages (tenant_id, user_id) where user_id is not null;
create index messages_to on auth.messages (tenant_id, app_id, recipient);
create index messages_age on auth.messages (created_at);
create index messages_newest on auth.messages (tenant_id, app_id, created_at desc, id);

-- Work that must not show in the time of an answer: which address asked for a reset or for another verification message.
create table auth.requests (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  kind text collate "C" not null,
  email text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, id)
);
create index requests_oldest on auth.requests (created_at);

create table auth.clients (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  name text not null,
  redirect_uris text[] not null,
  post_logout_redirect_uris text[] not null,
  scopes text[] not null,
  grant_types text[] not null,
  public boolean not null,
  secret_hash bytea,
  previous_secret_hash bytea,
  previous_until timestamptz(3),
  skip_consent boolean not null,
  require_pkce boolean not null,
  access_token_ttl integer not null,
  audiences text[] not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id)
);
create index clients_newest on auth.clients (tenant_id, app_id, created_at desc, id);

-- What the OAuth library stores: found by a secret only, so the key has no tenant in front.
create table auth.oidc (
  model text collate "C" not null,
  id_hash bytea not null,
  payload jsonb not null,
  grant_id text collate "C",
  uid text collate "C",
  session_uid text collate "C",
  user_id text collate "C",
  client_id text collate "C",
  tenant_id text collate "C",
  consumed_at timestamptz(3),
  expires_at timestamptz(3),
  primary key (model, id_hash)
);
create index oidc_grant on auth.oidc (grant_id) where grant_id is not null;
create index oidc_uid on auth.oidc (model, uid) where uid is not null;
create index oidc_user on auth.oidc (tenant_id, user_id) where user_id is not null;
create index oidc_client on auth.oidc (client_id) where client_id is not null;
create index oidc_end on auth.oidc (expires_at);

create table auth.signing_keys (
  kid text collate "C" not null,
  alg text collate "C" not null,
  state text collate "C" not null,
  public_jwk jsonb not null,
  private_box bytea not null,
  created_at timestamptz(3) not null default now(),
  activated_at timestamptz(3),
  retired_at timestamptz(3),
  constraint signing_keys_kid primary key (kid),
  constraint signing_keys_state check (state in ('next', 'active', 'retired'))
);

create table auth.erased (
  tenant_id text collate "C" not null,
  user_id text collate "C" not null,
  erased_at timestamptz(3) not null default now(),
  primary key (tenant_id, user_id)
);

create table auth.outbox (
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
create index outbox_of_user on auth.outbox (tenant_id, (data ->> 'user_id')) where (data ->> 'user_id') is not null;

create table auth.changes (
  seq bigint generated always as identity,
  kind text collate "C" not null,
  id text collate "C" not null,
  effect text collate "C" not null default 'refuse',
  before timestamptz(3) not null default now(),
  xid xid8 not null default pg_current_xact_id(),
  horizon xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
  at timestamptz(3) not null default now(),
  constraint changes_pkey primary key (seq),
  constraint changes_kind check (
    kind in ('session', 'user', 'app', 'client', 'grant', 'token', 'scope', 'signing_key')
  )
);
create index changes_xid on auth.changes (xid);
create index changes_at on auth.changes (at);
create index changes_of_subject on auth.changes (kind, id);
