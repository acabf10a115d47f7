-- The events that were accepted long after they had happened: a list that ends at a time looks for them among those that were accepted
-- since, and finds all others by their ids, which begin with the time of acceptance.
create index usage_event_late on billing.usage_event (tenant_id, app_id, id) where accepted_at - happened_at > interval '1 hour';
create index usage_event_app_late on billing.usage_event (app_id, id) where accepted_at - happened_at > interval '1 hour';
