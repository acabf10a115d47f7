-- How many events of each stream were purged, so that the number of those that are left is known without counting them.
alter table audit.streams add column purged bigint not null default 0;

update audit.streams set purged = counted.purged
from (
  select tenant_id, stream_id, count(*) as purged from audit.events where run_id is not null group by tenant_id, stream_id
) as counted
where streams.tenant_id = counted.tenant_id and streams.id = counted.stream_id;
