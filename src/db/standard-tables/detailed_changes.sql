-- Changes with their effect, and the moment before which something must have been issued to be affected by them. Otherwise this is
-- the table of `changes.sql`.
create table service.changes (
  seq bigint generated always as identity,
  kind text collate "C" not null,
  id text collate "C" not null,
  effect text collate "C" not null,
  before timestamptz(3) not null,
  xid xid8 not null default pg_current_xact_id(),
  horizon xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
  at timestamptz(3) not null default now(),
  constraint changes_pkey primary key (seq)
);
create index changes_xid on service.changes (xid);
create index changes_at on service.changes (at);
