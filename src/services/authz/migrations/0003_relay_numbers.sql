-- The number under which the relay hands an event on; null until it has one. See the standard table `outbox`.
alter table authz.outbox add column relay_number bigint;
create index outbox_relay_number on authz.outbox (relay_number) where relay_number is not null;
create index outbox_unnumbered on authz.outbox (seq) where relay_number is null;
