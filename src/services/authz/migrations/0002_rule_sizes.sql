-- What policies and resource types take to evaluate and to hold, which is bounded in all. Regular expressions that were
-- stored before count as twice their length, until the policy is written again.
alter table authz.policies
  add column bytes integer not null default 0,
  add column wildcards integer not null default 0,
  add column instructions integer not null default 0;

update authz.policies
set
  bytes = octet_length(subjects::text) + octet_length(actions::text) + octet_length(resources::text)
    + octet_length(conditions::text),
  wildcards = (
    select count(*)
    from jsonb_array_elements_text(subjects || actions || resources) as matcher
    where matcher like '%*%' and matcher <> '*'
  ),
  instructions = (
    select coalesce(sum(least(2 * length(condition ->> 'value'), 1000)), 0)
    from jsonb_array_elements(conditions) as condition
    where condition ->> 'operator' = 'regex'
  );

alter table authz.resource_types
  add column bytes integer not null default 0;

update authz.resource_types
set bytes = octet_length(relations::text) + octet_length(permissions::text);
