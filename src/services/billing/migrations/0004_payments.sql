create table billing.payment_method (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  customer_id text collate "C" not null,
  processor_name text collate "C" not null,
  -- Its id at the provider.
  processor_id text collate "C" not null,
  -- The customer's id at the provider, where the provider has customers.
  processor_customer_id text collate "C",
  type text collate "C" not null,
  last4 text,
  brand text,
  expiry_month integer,
  expiry_year integer,
  is_default boolean not null,
  created_at timestamptz(3) not null,
  constraint payment_method_pkey primary key (tenant_id, id),
  constraint payment_method_customer foreign key (tenant_id, customer_id) references billing.customer (tenant_id, id)
);
create index payment_method_of_customer on billing.payment_method (tenant_id, customer_id, id);
create unique index payment_method_default on billing.payment_method (tenant_id, customer_id) where is_default;
create index payment_method_app on billing.payment_method (app_id, id);

create table billing.payment (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  invoice_id text collate "C" not null,
  customer_id text collate "C",
  payment_method_id text collate "C",
  amount bigint not null,
  currency text collate "C" not null,
  status text collate "C" not null,
  processor_name text collate "C" not null,
  processor_id text collate "C",
  -- What was refunded, and what refunds in progress have reserved.
  refunded_amount bigint not null default 0,
  refunding_amount bigint not null default 0,
  refund_reason text,
  -- What has arrived, and what of it the invoice did not need, which is the customer's unless it was refunded.
  received_amount bigint not null default 0,
  unapplied_amount bigint not null default 0,
  failure_code text collate "C",
  failure_message text,
  next_action jsonb,
  -- The method as the provider knows it, so that a repeat of the charge says the same even when the method is gone.
  source jsonb,
  metadata jsonb not null,
  idempotency_key text collate "C",
  -- A digest of the request, which a repeat with the same key is compared with.
  request_digest bytea,
  -- Whether an attempt of collection made it.
  is_automatic boolean not null default false,
  -- When a payment without an outcome is looked at again; null once it has one.
  check_at timestamptz(3),
  created_at timestamptz(3) not null,
  completed_at timestamptz(3),
  updated_at timestamptz(3) not null,
  constraint payment_pkey primary key (tenant_id, id),
  -- A refund in progress may be counted twice for a moment, when the provider has already told of it.
  constraint payment_refunds check (refunding_amount >= 0 and refunded_amount between 0 and greatest(amount, received_amount)),
  constraint payment_invoice foreign key (tenant_id, invoice_id) references billing.invoice (tenant_id, id)
);
create index payment_app on billing.payment (app_id, id);
-- Notifications name a payment without its tenant.
create unique index payment_id on billing.payment (id);
create index payment_of_invoice on billing.payment (tenant_id, invoice_id, id);
create index payment_of_customer on billing.payment (tenant_id, customer_id, id);
create index payment_at_processor on billing.payment (processor_name, processor_id) where processor_id is not null;
create unique index payment_key on billing.payment (tenant_id, app_id, idempotency_key) where idempotency_key is not null;
create index payment_checks on billing.payment (check_at) where check_at is not null;

create table billing.refund (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  payment_id text collate "C" not null,
  amount bigint not null,
  reason text,
  status text collate "C" not null,
  processor_id text collate "C",
  check_at timestamptz(3),
  created_at timestamptz(3) not null,
  completed_at timestamptz(3),
  constraint refund_pkey primary key (tenant_id, id),
  constraint refund_payment foreign key (tenant_id, payment_id) references billing.payment (tenant_id, id)
);
create index refund_of_payment on billing.refund (tenant_id, payment_id);
create index refund_checks on billing.refund (check_at) where check_at is not null;

-- Notifications that have had their effect, so that a repeat has none.
create table billing.provider_event (
  provider text collate "C" not null,
  event_id text collate "C" not null,
  created_at timestamptz(3) not null,
  constraint provider_event_pkey primary key (provider, event_id)
);
create index provider_event_age on billing.provider_event (created_at);
