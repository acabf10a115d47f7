create table billing.subscription (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  plan_id text collate "C" not null,
  status text collate "C" not null,
  customer_id text collate "C",
  starts_at timestamptz(3) not null,
  -- The start of the first of its present row of paid periods, from which the others are computed, and their length.
  anchor timestamptz(3) not null,
  billing_period text collate "C" not null,
  current_period_start timestamptz(3) not null,
  current_period_end timestamptz(3) not null,
  trial_start timestamptz(3),
  trial_end timestamptz(3),
  cancel_at timestamptz(3),
  canceled_at timestamptz(3),
  ended_at timestamptz(3),
  resume_at timestamptz(3),
  -- When time alone changes it next: the end of its trial or period, `cancel_at`, `resume_at`, or its last invoice for late usage.
  next_action_at timestamptz(3),
  -- Whether subscribers were told that the trial is about to end.
  trial_ending_told boolean not null default false,
  metadata jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint subscription_pkey primary key (tenant_id, id),
  constraint subscription_plan foreign key (app_id, plan_id) references billing.plan (app_id, id)
);
create unique index subscription_live on billing.subscription (tenant_id, app_id)
  where status in ('trialing', 'active', 'past_due', 'paused');
create index subscription_app on billing.subscription (app_id, id);
create index subscription_due on billing.subscription (next_action_at) where next_action_at is not null;
create index subscription_of_plan on billing.subscription (app_id, plan_id)
  where status in ('trialing', 'active', 'past_due', 'paused');

-- Every instant of a subscription lies in exactly one segment, and every instant of a tenant in an app in at most one.
create table billing.segment (
  tenant_id text collate "C" not null,
  subscription_id text collate "C" not null,
  app_id text collate "C" not null,
  starts_at timestamptz(3) not null,
  ends_at timestamptz(3) not null,
  kind text collate "C" not null,
  period_start timestamptz(3) not null,
  period_end timestamptz(3) not null,
  window_start timestamptz(3) not null,
  window_end timestamptz(3) not null,
  plan_id text collate "C" not null,
  revision integer not null,
  base_amount bigint not null,
  base_plan_id text collate "C" not null,
  base_revision integer not null,
  constraint segment_pkey primary key (tenant_id, subscription_id, starts_at),
  constraint segment_length check (starts_at < ends_at)
);
create unique index segment_covering on billing.segment (tenant_id, app_id, starts_at desc);

create table billing.redemption (
  tenant_id text collate "C" not null,
  subscription_id text collate "C" not null,
  coupon_id text collate "C" not null,
  app_id text collate "C" not null,
  -- The discount as it was when the coupon was redeemed.
  code text collate "C" not null,
  type text collate "C" not null,
  percentage text collate "C",
  amount bigint,
  currency text collate "C",
  duration text collate "C" not null,
  duration_periods integer,
  -- How many final invoices it has discounted.
  times_used integer not null default 0,
  applied_at timestamptz(3) not null,
  -- The order of redemption.
  position integer not null,
  constraint redemption_pkey primary key (tenant_id, subscription_id, coupon_id),
  constraint redemption_position unique (tenant_id, subscription_id, position)
);

create table billing.usage_event (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  feature_key text collate "C" not null,
  quantity numeric not null,
  idempotency_key text collate "C",
  metadata jsonb not null,
  status text collate "C" not null,
  happened_at timestamptz(3) not null,
  -- The timestamp as it was sent, which a repeat is compared with; null when the server's time was taken.
  sent_timestamp timestamptz(3),
  accepted_at timestamptz(3) not null,
  -- The segment that counts it; null while none covers it.
  subscription_id text collate "C",
  segment_start timestamptz(3),
  period_start timestamptz(3),
  void_reason text,
  constraint usage_event_pkey primary key (tenant_id, id)
);
create unique index usage_event_key on billing.usage_event (tenant_id, app_id, idempotency_key)
  where idempotency_key is not null;
create index usage_event_feature on billing.usage_event (tenant_id, app_id, feature_key, id);
create index usage_event_app on billing.usage_event (app_id, id);
create index usage_event_buffered on billing.usage_event (tenant_id, app_id, happened_at) where status = 'buffered';
create index usage_event_waiting on billing.usage_event (accepted_at) where status = 'buffered';

-- The sums of events by segment. Updates stay in their page, since no other index has to follow them.
create table billing.usage_total (
  tenant_id text collate "C" not null,
  subscription_id text collate "C" not null,
  feature_key text collate "C" not null,
  segment_start timestamptz(3) not null,
  window_start timestamptz(3) not null,
  quantity numeric not null,
  events bigint not null,
  constraint usage_total_pkey primary key (tenant_id, subscription_id, feature_key, segment_start),
  -- Checked when a counter is born: a segment that counts events cannot be deleted.
  constraint usage_total_segment foreign key (tenant_id, subscription_id, segment_start)
    references billing.segment (tenant_id, subscription_id, starts_at)
) with (fillfactor = 70);

create table billing.usage_day (
  tenant_id text collate "C" not null,
  subscription_id text collate "C" not null,
  feature_key text collate "C" not null,
  day date not null,
  quantity numeric not null,
  events bigint not null,
  constraint usage_day_pkey primary key (tenant_id, subscription_id, feature_key, day)
) with (fillfactor = 70);
