-- Lists are newest first, and rows of one millisecond are in the order of their ids, also newest first. With both columns in one
-- direction, an index answers "what follows this row" as one range. Before, the ids of one millisecond were in ascending order.
drop index keys.policies_newest;
create index policies_newest on keys.policies (tenant_id, created_at desc, id desc);
drop index keys.keys_newest;
create index keys_newest on keys.keys (tenant_id, created_at desc, id desc) where deleted_at is null;
drop index keys.keys_in_state;
create index keys_in_state on keys.keys (tenant_id, state, created_at desc, id desc) where deleted_at is null;
drop index keys.keys_of_environment;
create index keys_of_environment on keys.keys (tenant_id, environment, created_at desc, id desc) where deleted_at is null;
drop index keys.keys_owner;
create index keys_owner on keys.keys (tenant_id, owner_id, created_at desc, id desc) where owner_id is not null;
drop index keys.rotations_newest;
create index rotations_newest on keys.rotations (tenant_id, key_id, created_at desc, id desc);
drop index keys.usage_of_key;
create index usage_of_key on keys.usage (tenant_id, key_id, created_at desc, id desc);
