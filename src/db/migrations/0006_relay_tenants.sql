-- Tenants of which so many subjects fail that a consumer gets none of their events from `number` on, until fewer do.
create table plinth.relay_held_tenants (
  service text collate "C" not null,
  consumer text collate "C" not null,
  tenant_id text collate "C" not null,
  number bigint not null,
  failures int not null default 0,
  retry_at timestamptz(3) not null default now(),
  constraint relay_held_tenants_pkey primary key (service, consumer, tenant_id)
);
