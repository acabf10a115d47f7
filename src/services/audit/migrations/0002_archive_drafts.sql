-- Archives that are being written, by the beginning of the names of their files. A row that stays belongs to one that was interrupted:
-- it is given up first, so that nothing is purged for it any more, and then its files are removed.
create table audit.archive_drafts (
  tenant_id text collate "C" not null,
  place text collate "C" not null,
  id text collate "C" not null,
  given_up boolean not null default false,
  created_at timestamptz(3) not null default now(),
  constraint archive_drafts_pkey primary key (tenant_id, place)
);
create index archive_drafts_created_at on audit.archive_drafts (created_at);
