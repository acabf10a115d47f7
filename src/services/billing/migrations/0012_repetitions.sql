-- Whether an invoice was voided so that its charges are owed again: only then is a repetition of it the same request.
alter table billing.invoice add column is_rebilled boolean not null default false;

-- The key with which a refund was asked for, and what was asked: whoever repeats it, however it ended, gets this one and no other.
alter table billing.refund
  add column idempotency_key text collate "C",
  add column request_digest bytea;
create unique index refund_key on billing.refund (tenant_id, payment_id, idempotency_key) where idempotency_key is not null;
