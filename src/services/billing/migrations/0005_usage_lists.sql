-- The lists of usage events that filters select. Few events are voided, so that their indexes are small.
create index usage_event_voided on billing.usage_event (tenant_id, app_id, id) where status = 'voided';
create index usage_event_app_voided on billing.usage_event (app_id, id) where status = 'voided';
create index usage_event_app_feature on billing.usage_event (app_id, feature_key, id);
