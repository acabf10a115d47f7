-- An erasure has to tell whose parts it took. A process of an earlier version does not, and parts that were recorded meanwhile in version 2
-- would be unreadable for ever: while such processes still run, their erasures wait, and are refused as when the store is busy.
create function audit.owners_are_told() returns trigger language plpgsql as $$
begin
  raise exception 'a process of an earlier version cannot erase' using errcode = 'serialization_failure';
end $$;
create trigger owners_are_told before insert on audit.events for each row
  when (new.v = 1 and new.category = 'audit' and new.action = 'erasure.completed') execute function audit.owners_are_told();
