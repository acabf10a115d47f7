-- The number under which the relay hands an event on; null until it has one. See the standard table `outbox`.
alter table keys.outbox add column relay_number bigint;
create index outbox_relay_number on keys.outbox (relay_number) where relay_number is not null;
create index outbox_unnumbered on keys.outbox (seq) where relay_number is null;
