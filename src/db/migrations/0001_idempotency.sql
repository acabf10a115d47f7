-- Answers to requests that carried an Idempotency-Key, kept for 24 hours.
create table plinth.idempotency_keys (
  tenant_id text not null,
  -- Whose key it is beyond the tenant: service, operation, app and actor.
  scope text not null,
  key text not null,
  -- Hash of what was asked: another request with the same key is refused.
  fingerprint bytea not null,
  -- Whoever claims the key writes its own token; only the claim's owner may complete it.
  claim uuid not null,
  claimed_at timestamptz(3) not null default now(),
  completed_at timestamptz(3),
  answer jsonb,
  -- The id of what was made, where the answer itself may not be kept.
  made text,
  constraint idempotency_keys_pkey primary key (tenant_id, scope, key)
);

create index idempotency_keys_claimed_at_idx on plinth.idempotency_keys (claimed_at);
