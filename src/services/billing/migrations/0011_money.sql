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

-- Servers of the version before go on making drafts final until they are replaced. They know only drafts that have a number, and do not
-- note by period what coupons deduct.
create function billing.finalize_of_former_version() returns trigger language plpgsql as $$
declare
  of_year integer := extract(year from coalesce(new.finalized_at, now()) at time zone 'UTC');
  sequence text;
begin
  if new.number is null then
    insert into billing.invoice_number (app_id, year, last) values (new.app_id, of_year, 1)
    on conflict (app_id, year) do update set last = invoice_number.last + 1
    returning last::text into sequence;
    new.number := 'INV-' || lpad(of_year::text, 4, '0') || '-' || lpad(sequence, greatest(6, length(sequence)), '0');
  end if;
  if not exists (select from billing.coupon_use where tenant_id = new.tenant_id and invoice_id = new.id) then
    insert into billing.coupon_use (tenant_id, app_id, invoice_id, code_key, period_start, period_end, amount)
    select new.tenant_id, new.app_id, new.id, lower(discount->>'code'), new.period_start, new.period_end, sum((discount->>'amount')::bigint)
    from jsonb_array_elements(new.discounts) as discount
    where (discount->>'amount')::bigint > 0
    group by lower(discount->>'code');
  end if;
  return new;
end
$$;
create trigger of_former_version before update of status on billing.invoice for each row
  when (old.status = 'draft' and new.status in ('pending', 'past_due', 'paid') and (new.number is null or new.discounts <> '[]'))
  execute function billing.finalize_of_former_version();
