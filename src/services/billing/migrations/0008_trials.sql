-- Whether a tenant has had its trial in an app.
create index subscription_trial on billing.subscription (tenant_id, app_id) where trial_start is not null;
