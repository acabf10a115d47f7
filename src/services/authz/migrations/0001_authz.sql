-- Text is compared byte by byte (collate "C"), which for UTF-8 is code-point order: the order that lists promise.
create schema if not exists authz;

-- One row a tenant: its revision, and the row lock that puts its writes in order.
create table authz.tenants (
  tenant_id text collate "C" primary key,
  revision bigint not null,
  floor_revision bigint not null default 0,
  roles integer not null default 0,
  permissions integer not null default 0,
  policies integer not null default 0,
  types integer not null default 0,
  assignments bigint not null default 0,
  tuples bigint not null default 0
);

create table authz.roles (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text not null,
  name text not null,
  slug text collate "C" not null,
  description text not null,
  parent_id text collate "C",
  is_system boolean not null,
  is_default boolean not null,
  metadata jsonb not null,
  revision bigint not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint roles_slug unique (tenant_id, slug)
);
create index roles_parent on authz.roles (tenant_id, parent_id);
create index roles_default on authz.roles (tenant_id) where is_default;

create table authz.permissions (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text not null,
  name text not null,
  resource text not null,
  action text not null,
  description text not null,
  revision bigint not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint permissions_name unique (tenant_id, name)
);

create table authz.role_permissions (
  tenant_id text collate "C" not null,
  role_id text collate "C" not null,
  permission_id text collate "C" not null,
  revision bigint not null,
  created_at timestamptz(3) not null default now(),
  constraint role_permissions_once primary key (tenant_id, role_id, permission_id)
);
create index role_permissions_permission on authz.role_permissions (tenant_id, permission_id);

-- assignments_once is also what a check reads: everything a subject holds.
create table authz.assignments (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text not null,
  role_id text collate "C" not null,
  subject_kind text collate "C" not null,
  subject_id text collate "C" not null,
  resource_type text collate "C",
  resource_id text collate "C",
  expires_at timestamptz(3),
  created_by text not null,
  revision bigint not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint assignments_once unique nulls not distinct
    (tenant_id, subject_kind, subject_id, role_id, resource_type, resource_id)
);
create index assignments_subject on authz.assignments (tenant_id, subject_kind, subject_id, id);
create index assignments_role on authz.assignments (tenant_id, role_id, id);
create index assignments_resource on authz.assignments (tenant_id, resource_type, resource_id, id)
  where resource_type is not null;
create index assignments_expiry on authz.assignments (expires_at) where expires_at is not null;

-- The primary key answers "is this subject in the set" and "who is in the set", and is the order of the list.
create table authz.relations (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text not null,
  object_type text collate "C" not null,
  object_id text collate "C" not null,
  relation text collate "C" not null,
  subject_type text collate "C" not null,
  subject_id text collate "C" not null,
  subject_relation text collate "C" not null,
  expires_at timestamptz(3),
  revision bigint not null,
  created_at timestamptz(3) not null default now(),
  constraint relations_key primary key
    (tenant_id, object_type, relation, object_id, subject_type, subject_id, subject_relation),
  constraint relations_id unique (tenant_id, id)
);
create index relations_usersets on authz.relations (tenant_id, object_type, relation, object_id)
  where subject_relation <> '' or subject_id = '*';
create index relations_subject on authz.relations
  (tenant_id, subject_type, subject_id, subject_relation, object_type, relation, object_id);
create index relations_expiry on authz.relations (expires_at) where expires_at is not null;

create table authz.policies (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text not null,
  name text not null,
  description text not null,
  effect text not null,
  priority integer not null,
  is_active boolean not null,
  subjects jsonb not null,
  actions jsonb not null,
  resources jsonb not null,
  conditions jsonb not null,
  revision bigint not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint policies_name unique (tenant_id, name)
);

create table authz.resource_types (
  id text collate "C" not null,
  tenant_id text collate "C" not null,
  app_id text not null,
  name text collate "C" not null,
  description text not null,
  relations jsonb not null,
  permissions jsonb not null,
  revision bigint not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (tenant_id, id),
  constraint resource_types_name unique (tenant_id, name)
);

-- What each revision changed, for the models in other processes. `body` is an array of records.
create table authz.changes (
  tenant_id text collate "C" not null,
  revision bigint not null,
  seq integer not null,
  entity text not null,
  op text not null,
  body jsonb not null,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, revision, seq),
  constraint changes_op check (op in ('put', 'del'))
);
create index changes_age on authz.changes (created_at);
-- Written with every batch and soon removed: compressing it would cost more than it saves.
alter table authz.changes alter column body set storage external;

-- Deleted roles whose assignments are still to be removed in the background.
create table authz.gone_roles (
  tenant_id text collate "C" not null,
  role_id text collate "C" not null,
  primary key (tenant_id, role_id)
);

create table authz.outbox (
  tenant_id text not null,
  seq bigint generated always as identity,
  id text not null,
  type text not null,
  subject text not null,
  app_id text not null,
  actor text not null,
  data jsonb not null,
  time timestamptz(3) not null default now(),
  constraint outbox_pkey primary key (tenant_id, seq)
);
