-- What an app offers. Quantities and rates that are decimals are kept as text or numeric, never as floats; amounts are minor units.

create table billing.plan (
  app_id text collate "C" not null,
  id text collate "C" not null,
  slug text collate "C" not null,
  name text not null,
  description text not null,
  currency text collate "C" not null,
  status text collate "C" not null,
  trial_days integer not null,
  trial_requires_payment_method boolean not null,
  -- The current revision of its features and prices.
  revision integer not null,
  metadata jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- A deleted plan is kept, because invoices are computed with its revisions.
  deleted_at timestamptz(3),
  constraint plan_pkey primary key (app_id, id)
);
create unique index plan_slug on billing.plan (app_id, slug) where deleted_at is null;

-- Never updated: segments of subscriptions refer to the revision that counts for them.
create table billing.plan_revision (
  app_id text collate "C" not null,
  plan_id text collate "C" not null,
  revision integer not null,
  slug text collate "C" not null,
  currency text collate "C" not null,
  features json not null,
  -- Null for a free plan.
  pricing json,
  created_at timestamptz(3) not null,
  constraint plan_revision_pkey primary key (app_id, plan_id, revision),
  constraint plan_revision_plan foreign key (app_id, plan_id) references billing.plan (app_id, id)
);

create table billing.coupon (
  app_id text collate "C" not null,
  id text collate "C" not null,
  code text collate "C" not null,
  name text not null,
  type text collate "C" not null,
  percentage text collate "C",
  amount bigint,
  currency text collate "C",
  duration text collate "C" not null,
  duration_periods integer,
  -- 0: as often as anybody likes.
  max_redemptions integer not null,
  times_redeemed integer not null default 0,
  valid_from timestamptz(3),
  valid_until timestamptz(3),
  metadata jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  deleted_at timestamptz(3),
  constraint coupon_pkey primary key (app_id, id),
  constraint coupon_value check ((percentage is null) = (amount is not null) and (amount is null) = (currency is null))
);
create unique index coupon_code on billing.coupon (app_id, lower(code)) where deleted_at is null;

create table billing.tax_rate (
  app_id text collate "C" not null,
  id text collate "C" not null,
  country text collate "C" not null,
  state text,
  -- The state in lower case, and '' for the whole country.
  region text collate "C" not null,
  name text not null,
  rate text collate "C" not null,
  created_at timestamptz(3) not null,
  constraint tax_rate_pkey primary key (app_id, id),
  constraint tax_rate_region unique (app_id, country, region)
);

create table billing.customer (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  name text not null,
  email text not null,
  -- The address as it is compared: in lower case.
  email_key text collate "C" not null,
  currency text collate "C" not null,
  -- The sum of the customer's balance entries. A negative balance is credit.
  balance bigint not null default 0,
  billing_address jsonb,
  tax_ids jsonb not null,
  metadata jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- An erased customer keeps its row for its invoices and its credit, without any of its data.
  deleted_at timestamptz(3),
  constraint customer_pkey primary key (tenant_id, id),
  constraint customer_credit check (balance between -9007199254740991 and 0)
);
create unique index customer_email on billing.customer (tenant_id, app_id, email_key) where deleted_at is null;
create index customer_app on billing.customer (app_id, id);

create table billing.balance_entry (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  customer_id text collate "C" not null,
  -- Negative: credit is given; positive: credit is used.
  amount bigint not null,
  reason text,
  idempotency_key text collate "C",
  -- What gave or used the credit, unless the operator did.
  invoice_id text collate "C",
  payment_id text collate "C",
  created_at timestamptz(3) not null,
  constraint balance_entry_pkey primary key (tenant_id, id),
  constraint balance_entry_key unique (tenant_id, customer_id, idempotency_key),
  constraint balance_entry_customer foreign key (tenant_id, customer_id) references billing.customer (tenant_id, id)
);
create index balance_entry_customer on billing.balance_entry (tenant_id, customer_id, id);
