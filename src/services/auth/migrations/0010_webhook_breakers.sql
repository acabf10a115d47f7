-- What a webhook's receiver has shown decides how much it gets at once. Due deliveries are found webhook by webhook, so that a receiver
-- that does not answer costs its own deliveries only.
alter table auth.webhooks
  add column breaker text collate "C" not null default 'closed',
  add column consecutive_failures integer not null default 0,
  add column openings integer not null default 0,
  add column retry_at timestamptz(3),
  add constraint webhooks_breaker check (breaker in ('closed', 'open', 'half_open'));
drop index auth.deliveries_due;
create index deliveries_due on auth.deliveries (tenant_id, webhook_id, next_attempt_at, id) where state = 'pending';
