-- Due notifications are found client by client, so that a client that does not answer costs its own only.
drop index auth.logouts_due;
create index logouts_due on auth.logouts (tenant_id, client_id, next_attempt_at, sid);
