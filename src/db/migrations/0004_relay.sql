-- How far the relay is (`src/db/relay`). An event gets its number in its service's outbox, one statement after the other under the
-- lock of this row, so that a number never becomes visible after a higher one.
create table plinth.relay_outboxes (
  service text collate "C" not null,
  last_number bigint not null default 0,
  constraint relay_outboxes_pkey primary key (service)
);

-- Which events each consumer has had: all up to `reached`, except those that `relay_held` names.
create table plinth.relay_positions (
  service text collate "C" not null,
  consumer text collate "C" not null,
  reached bigint not null default 0,
  -- When a process last ran the consumer.
  seen_at timestamptz(3) not null default now(),
  constraint relay_positions_pkey primary key (service, consumer)
);

-- Subjects whose event `number` a consumer failed to take; it has had none of their events from that one on.
create table plinth.relay_held (
  service text collate "C" not null,
  consumer text collate "C" not null,
  tenant_id text collate "C" not null,
  subject text not null,
  number bigint not null,
  failures int not null default 1,
  retry_at timestamptz(3) not null,
  constraint relay_held_pkey primary key (service, consumer, tenant_id, subject)
);
