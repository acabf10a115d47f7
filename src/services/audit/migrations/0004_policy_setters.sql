-- Who set a policy replaces and removes it: what the operator put on a tenant is not the tenant's to change.
alter table audit.retention_policies add column set_by text collate "C" not null default 'tenant';
