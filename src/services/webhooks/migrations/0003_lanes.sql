-- What an endpoint's lane remembers between attempts, for all processes. An endpoint without a row is healthy.
create table webhooks.lane (
  endpoint_id text collate "C" not null,
  tenant_id text collate "C" not null,
  -- The theoretical arrival time of the next attempt, by which the rate is kept.
  tat timestamptz not null default '-infinity',
  -- How many attempts may be in flight: grows with each success, up to the endpoint's own limit.
  window_size smallint not null default 1,
  consecutive_failures integer not null default 0,
  failing_since timestamptz(3),
  last_success_at timestamptz(3),
  -- Nothing is attempted until then: the receiver asked for a pause, or the breaker is open.
  retry_at timestamptz(3),
  breaker text collate "C" not null default 'closed',
  -- How often the breaker has opened since the lane was last healthy.
  openings smallint not null default 0,
  constraint lane_pkey primary key (endpoint_id),
  constraint lane_breaker check (breaker in ('closed', 'open', 'half_open'))
);
