-- The events of the service, in the order in which they were written; `src/db/outbox.ts` writes them.
create table service.outbox (
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
