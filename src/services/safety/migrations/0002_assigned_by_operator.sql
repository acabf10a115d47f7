-- Who assigned a policy removes it: a tenant's admin keeps what the operator assigned to the tenant.
alter table safety.assignment add column by_operator boolean not null default false;
