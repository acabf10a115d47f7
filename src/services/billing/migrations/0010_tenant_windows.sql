-- The months of a tenant, in which its monthly counters and tiers run: they go on when its plan, its periods or its subscription change.
alter table billing.subscription add column window_anchor timestamptz(3);
-- When the counters began that never restart: with the first of the tenant's subscriptions, as far as those are counted together.
alter table billing.subscription add column counts_from timestamptz(3);
update billing.subscription set window_anchor = anchor, counts_from = starts_at;
alter table billing.subscription alter column window_anchor set not null, alter column counts_from set not null;

-- Servers of the version before go on subscribing tenants until they are replaced, and know of neither.
create function billing.count_from_start() returns trigger language plpgsql as $$
begin
  new.window_anchor := coalesce(new.window_anchor, new.anchor);
  new.counts_from := coalesce(new.counts_from, new.starts_at);
  return new;
end
$$;
create trigger of_former_version before insert on billing.subscription for each row
  when (new.window_anchor is null or new.counts_from is null) execute function billing.count_from_start();

-- The days of trial that the operator has granted, whatever a plan says; null without such.
alter table billing.subscription add column trial_granted integer;
update billing.subscription set trial_granted = round(extract(epoch from trial_end - trial_start) / 86400)
from billing.plan
where plan.app_id = subscription.app_id and plan.id = subscription.plan_id and subscription.status = 'trialing'
  and trial_end - trial_start > make_interval(days => plan.trial_days);

-- The year of such months, in which the tiers of yearly plans run. Periods that ended without one are priced as they were.
alter table billing.segment add column year_start timestamptz(3);
update billing.segment set year_start = case
    when window_anchor + make_interval(years => dated.years) <= segment.starts_at then window_anchor + make_interval(years => dated.years)
    else window_anchor + make_interval(years => dated.years - 1)
  end
from billing.subscription join (
  select tenant_id, subscription_id, starts_at, extract(year from starts_at)::integer as year from billing.segment
) as begun on begun.tenant_id = subscription.tenant_id and begun.subscription_id = subscription.id
  cross join lateral (select begun.year - extract(year from window_anchor)::integer as years) as dated
where segment.tenant_id = subscription.tenant_id and segment.subscription_id = subscription.id and segment.starts_at = begun.starts_at
  and segment.starts_at >= window_anchor and segment.period_end > now();

-- What a tenant has used in an app is counted over all its subscriptions there.
create index subscription_tenant on billing.subscription (tenant_id, app_id, id);
