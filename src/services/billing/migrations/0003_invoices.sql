-- What final invoices have billed of each group: the base price, or one feature, of one period under one revision of a plan.
create table billing.settlement (
  tenant_id text collate "C" not null,
  subscription_id text collate "C" not null,
  period_start timestamptz(3) not null,
  plan_id text collate "C" not null,
  revision integer not null,
  -- '' for the base price.
  feature_key text collate "C" not null,
  amount bigint not null,
  -- Whether the period was over when it was last settled.
  was_over boolean not null,
  invoices integer not null,
  constraint settlement_pkey primary key (tenant_id, subscription_id, period_start, plan_id, revision, feature_key)
);

-- The last sequence of each year. A number is taken in the transaction that makes the invoice, so that none is missing.
create table billing.invoice_number (
  app_id text collate "C" not null,
  year integer not null,
  last integer not null,
  constraint invoice_number_pkey primary key (app_id, year)
);

create table billing.invoice (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  number text collate "C" not null,
  subscription_id text collate "C" not null,
  customer_id text collate "C",
  status text collate "C" not null,
  origin text collate "C" not null,
  currency text collate "C" not null,
  subtotal bigint not null,
  discount_amount bigint not null,
  tax_amount bigint not null,
  total bigint not null,
  credit_applied bigint not null,
  amount_due bigint not null,
  amount_paid bigint not null default 0,
  discounts jsonb not null,
  taxes jsonb not null,
  -- Who was billed, frozen when the invoice becomes final.
  bill_to jsonb,
  period_start timestamptz(3) not null,
  period_end timestamptz(3) not null,
  due_date timestamptz(3),
  finalized_at timestamptz(3),
  paid_at timestamptz(3),
  voided_at timestamptz(3),
  void_reason text,
  payment_ref text,
  attempt_count integer not null default 0,
  next_attempt_at timestamptz(3),
  -- When a draft becomes final by itself; null for those that somebody asked for.
  auto_finalize_at timestamptz(3),
  metadata jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint invoice_pkey primary key (tenant_id, id),
  constraint invoice_total check (total = subtotal - discount_amount + tax_amount),
  constraint invoice_number_key unique (app_id, number)
);
create index invoice_app on billing.invoice (app_id, id);
create index invoice_subscription on billing.invoice (tenant_id, subscription_id, id);
create index invoice_customer on billing.invoice (tenant_id, customer_id, id);
create index invoice_finalizing on billing.invoice (auto_finalize_at) where auto_finalize_at is not null;
create index invoice_attempt on billing.invoice (next_attempt_at) where next_attempt_at is not null;
create index invoice_due on billing.invoice (due_date) where status = 'pending';

create table billing.line_item (
  tenant_id text collate "C" not null,
  invoice_id text collate "C" not null,
  position integer not null,
  id text collate "C" not null,
  type text collate "C" not null,
  description text not null,
  quantity numeric not null,
  unit numeric not null,
  flat bigint not null,
  amount bigint not null,
  period_start timestamptz(3) not null,
  period_end timestamptz(3) not null,
  -- The group that the line settles, so that it can be owed again exactly.
  group_period timestamptz(3) not null,
  group_plan_id text collate "C" not null,
  group_revision integer not null,
  -- '' for the base price.
  feature_key text collate "C" not null,
  constraint line_item_pkey primary key (tenant_id, invoice_id, position)
);
