-- Of policies that were set before it was noted by whom, the chain knows those that root set and nobody on whose behalf: they are the
-- operator's.
update audit.retention_policies as policy set set_by = 'operator'
from (
  select distinct on (tenant_id, id) tenant_id, id, recorded_by, actor_type from (
    select tenant_id, substring(encode(content, 'escape') from '"resource_id":"(retpol_[0-9a-z]{26})"') as id, recorded_by, actor_type,
      sequence
    from audit.events
    where category = 'audit' and source = 'audit' and action in ('retention_policy.created', 'retention_policy.replaced')
  ) as told
  order by tenant_id, id, sequence desc
) as last
where last.tenant_id = policy.tenant_id and last.id = policy.id and last.recorded_by = 'root:root' and last.actor_type = 'system';
