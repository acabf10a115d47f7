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
