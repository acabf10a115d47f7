-- What caches in other processes have to forget; `src/db/change-log.ts` writes and reads it. `xid` and `horizon` are the
-- transaction of the change and the oldest one that was still open, from which a reader learns what it has not seen.
create table service.changes (
  seq bigint generated always as identity,
  kind text collate "C" not null,
  id text collate "C" not null,
  xid xid8 not null default pg_current_xact_id(),
  horizon xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
  at timestamptz(3) not null default now(),
  constraint changes_pkey primary key (seq)
);
create index changes_xid on service.changes (xid);
create index changes_at on service.changes (at);
