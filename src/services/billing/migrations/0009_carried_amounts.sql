-- What earlier invoices of the customer have left to its next one, because the payment provider does not take such an amount.
alter table billing.customer add column carried_amount bigint not null default 0
  constraint customer_carried check (carried_amount between 0 and 9007199254740991);
-- What the invoice was left by earlier ones, less what it leaves to the next.
alter table billing.invoice add column carried_amount bigint not null default 0;
