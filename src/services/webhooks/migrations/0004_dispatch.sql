-- Tests reach a disabled endpoint, too; they are found however many deliveries it holds back.
create index delivery_test on webhooks.delivery (endpoint_id, next_attempt_at, id) where test and state = 'pending';

-- Numbers of stored records, so that the statistics never count a long history. Each statement adds rows, and a sweep sums them up.
create table webhooks.tally (
  app_id text collate "C" not null,
  tenant_id text collate "C" not null,
  -- `event`, `live` for deliveries that have not ended, the state of those that have, or `dlq`.
  kind text collate "C" not null,
  amount bigint not null
);
create index tally_of on webhooks.tally (app_id, tenant_id, kind);

-- Adds the rows that a statement inserted or deleted. The arguments are the sign and the kind, which of ended deliveries is their state.
create function webhooks.count_rows() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'delivery_done' then
    insert into webhooks.tally (app_id, tenant_id, kind, amount)
    select app_id, tenant_id, state, tg_argv[0]::bigint * count(*) from touched group by app_id, tenant_id, state;
  else
    insert into webhooks.tally (app_id, tenant_id, kind, amount)
    select app_id, tenant_id, tg_argv[1], tg_argv[0]::bigint * count(*) from touched group by app_id, tenant_id;
  end if;
  return null;
end
$$;

create trigger added after insert on webhooks.event referencing new table as touched
  for each statement execute function webhooks.count_rows('1', 'event');
create trigger removed after delete on webhooks.event referencing old table as touched
  for each statement execute function webhooks.count_rows('-1', 'event');
create trigger added after insert on webhooks.delivery referencing new table as touched
  for each statement execute function webhooks.count_rows('1', 'live');
create trigger removed after delete on webhooks.delivery referencing old table as touched
  for each statement execute function webhooks.count_rows('-1', 'live');
create trigger added after insert on webhooks.delivery_done referencing new table as touched
  for each statement execute function webhooks.count_rows('1');
create trigger removed after delete on webhooks.delivery_done referencing old table as touched
  for each statement execute function webhooks.count_rows('-1');
create trigger added after insert on webhooks.dlq referencing new table as touched
  for each statement execute function webhooks.count_rows('1', 'dlq');
create trigger removed after delete on webhooks.dlq referencing old table as touched
  for each statement execute function webhooks.count_rows('-1', 'dlq');
