-- From version 2 of the record on, the commitments in it fix by what an event is found. What is erased names the event of the chain that
-- says so, by its number.
alter table audit.events
  add column v integer not null default 1,
  add column resource_proof bytea,
  add column actor_erased_by bigint,
  add column content_erased_by bigint;

-- What may change besides: an event is found by a person or a resource no more when an erasure is named, and it is purged.
create or replace function audit.events_stay() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.run_id is null and new.hash = old.hash and new.v = old.v
    and (new.tenant_id, new.stream_id, new.sequence) = (old.tenant_id, old.stream_id, old.sequence)
  then
    if new.run_id is not null then
      if (new.app_id, new.timestamp, new.recorded_at, new.recorded_by, new.source, new.actor_type, new.action, new.resource, new.category,
        new.outcome, new.severity, new.salt, new.actor, new.content, new.actor_key, new.content_key, new.actor_ref, new.subject_ref,
        new.resource_ref, new.resource_proof, new.erasure_id, new.actor_erased_by, new.content_erased_by) is null
      then return new; end if;
    elsif row(new.id, new.app_id, new.timestamp, new.recorded_at, new.recorded_by, new.source, new.actor_type, new.action, new.resource,
        new.category, new.outcome, new.severity, new.salt, new.actor, new.content, new.actor_key, new.content_key, new.resource_proof)
      is not distinct from row(old.id, old.app_id, old.timestamp, old.recorded_at, old.recorded_by, old.source, old.actor_type, old.action,
        old.resource, old.category, old.outcome, old.severity, old.salt, old.actor, old.content, old.actor_key, old.content_key,
        old.resource_proof)
      and (old.actor_erased_by is null or new.actor_erased_by = old.actor_erased_by)
      and (old.content_erased_by is null or new.content_erased_by = old.content_erased_by)
      and (new.actor_ref is not distinct from old.actor_ref or (new.actor_ref is null and new.actor_erased_by > new.sequence))
      and (new.subject_ref is not distinct from old.subject_ref or (new.subject_ref is null and new.content_erased_by > new.sequence))
      and (new.resource_ref is not distinct from old.resource_ref or (new.resource_ref is null and new.content_erased_by > new.sequence))
    then return new; end if;
  end if;
  raise exception 'events of the audit log are not changed or deleted' using errcode = 'integrity_constraint_violation';
end $$;

-- Events that were marked before say by which erasure.
update audit.events
set actor_erased_by = case when events.actor_key is not null and events.actor_ref is null then told.sequence end,
  content_erased_by = case when events.content_key is not null and events.subject_ref is null then told.sequence end
from (
  select tenant_id, stream_id, sequence, substring(encode(content, 'escape') from '"erasure_id":"(erasure_[0-9a-z]{26})"') as erasure_id
  from audit.events where category = 'audit' and action = 'erasure.completed' and source = 'audit'
) as told
where events.erasure_id = told.erasure_id and events.tenant_id = told.tenant_id and events.stream_id = told.stream_id
  and events.sequence < told.sequence;
