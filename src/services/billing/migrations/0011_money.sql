-- What an invoice gives back of earlier ones, so that no number of credits and refunds returns more than was paid.
alter table billing.invoice add column returns jsonb not null default '[]';
-- What of its credit was used up by charges that were given back before they were paid.
alter table billing.invoice add column set_off_amount bigint not null default 0;
-- What of the credit that the payment, or its invoice, has given was taken back by refunds of it.
alter table billing.payment add column reclaimed_amount bigint not null default 0;
update billing.payment set reclaimed_amount = least(unapplied_amount, refunded_amount) where refunded_amount > 0;
create index invoice_returning on billing.invoice (tenant_id, subscription_id) where returns <> '[]';
-- Whether its taxes could be computed.
alter table billing.invoice add column tax_status text collate "C" not null default 'complete';
-- What final invoices have deducted for the coupons of a tenant, by billing period. A code counts whatever its coupon and subscription were,
-- so that nobody gets a discount once more by subscribing anew. It takes the place of `redemption.times_used`, which counted invoices.
create table billing.coupon_use (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  invoice_id text collate "C" not null,
  -- The code in lower case.
  code_key text collate "C" not null,
  period_start timestamptz(3) not null,
  period_end timestamptz(3) not null,
  amount bigint not null,
  constraint coupon_use_pkey primary key (tenant_id, invoice_id, code_key, period_start)
);
create index coupon_use_of_code on billing.coupon_use (tenant_id, app_id, code_key, period_start);
insert into billing.coupon_use (tenant_id, app_id, invoice_id, code_key, period_start, period_end, amount)
select tenant_id, app_id, id, lower(discount->>'code'), period_start, period_end, sum((discount->>'amount')::bigint)
from billing.invoice cross join jsonb_array_elements(discounts) as discount
where status in ('pending', 'past_due', 'paid') and (discount->>'amount')::bigint > 0
group by tenant_id, app_id, id, lower(discount->>'code'), period_start, period_end;
create index redemption_code on billing.redemption (tenant_id, app_id, lower(code));
-- A draft has no number: it is taken in the transaction that makes the invoice final.
alter table billing.invoice alter column number drop not null;
