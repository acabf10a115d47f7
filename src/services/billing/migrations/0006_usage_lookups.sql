-- A database without statistics of the table took the index of the features for the look-up of an idempotency key, because it also begins
-- with the tenant and the app, and so read all events of the tenant for each repeated one. An index of features can serve only what
-- names a feature, and of indexes that seem equally good the newest one is taken.
drop index billing.usage_event_feature;
create index usage_event_feature on billing.usage_event (feature_key, tenant_id, app_id, id);
drop index billing.usage_event_key;
create unique index usage_event_key on billing.usage_event (tenant_id, app_id, idempotency_key)
  where idempotency_key is not null;
