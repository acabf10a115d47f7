-- The events of the service, in the order in which they were written; `src/db/outbox.ts` writes them, `src/db/relay` hands them on.
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
  -- The number under which the relay hands the event on; null until it has one.
  relay_number bigint,
  constraint outbox_pkey primary key (tenant_id, seq)
);
create index outbox_relay_number on service.outbox (relay_number) where relay_number is not null;
create index outbox_unnumbered on service.outbox (seq) where relay_number is null;
