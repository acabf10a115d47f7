-- Presence is lost with a crash of the database, and announced again by those who are there. It is never written to the log.

-- One row for each data set. Whoever holds it alone gives revisions, so that they follow the commits, and counts against the limits.
create unlogged table sync.presence_clocks (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  -- The last revision. It begins with the microseconds since 1970, so that it does not fall behind when the table was emptied.
  rev bigint not null,
  constraint presence_clocks_pkey primary key (tenant_id, app_id)
) with (fillfactor = 50);

create unlogged table sync.presence (
  tenant_id text collate "C" not null,
  app_id text collate "C" not null,
  topic text collate "C" not null,
  node_id text collate "C" not null,
  -- Canonical JSON.
  data text not null,
  -- Whether it is there; one that left is kept until all processes have heard of it.
  present boolean not null,
  joined_rev bigint not null,
  rev bigint not null,
  updated_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  constraint presence_pkey primary key (tenant_id, app_id, topic, node_id)
);
create index presence_rev on sync.presence (tenant_id, app_id, rev);
create index presence_of_node on sync.presence (tenant_id, app_id, node_id) where present;
create index presence_expires_at on sync.presence (expires_at);

create function sync.next_presence_rev(p_last bigint) returns bigint language sql volatile as $$
  select greatest(p_last + 1, floor(extract(epoch from clock_timestamp()) * 1000000)::bigint)
$$;

-- Lets a node join a topic, renew or change its presence there, or, without data, leave. Returns `join`, `update`, `same` where only the
-- time was renewed, `leave`, `absent` where there was nothing to leave; or why not: `owner`, `topic` or `node`.
create function sync.announce(
  p_tenant text, p_app text, p_topic text, p_node text, p_data text, p_ttl_ms bigint, p_most_nodes integer, p_most_topics integer,
  p_owner text, p_exempt boolean, p_claimed_event text, p_actor text, p_request_id text
) returns text language plpgsql as $$
declare
  v_rev bigint;
  v_known sync.presence;
  v_is_there boolean;
begin
  if p_data is null then
    perform from sync.nodes n where n.tenant_id = p_tenant and n.app_id = p_app and n.node_id = p_node;
    if not found then return 'absent'; end if;
  end if;
  if sync.claim(p_tenant, p_app, p_node, p_owner, p_exempt, p_claimed_event, p_actor, p_request_id) = 'refused' then
    return 'owner';
  end if;
  insert into sync.presence_clocks as c (tenant_id, app_id, rev) values (p_tenant, p_app, sync.next_presence_rev(0))
  on conflict on constraint presence_clocks_pkey do update set rev = sync.next_presence_rev(c.rev)
  returning rev into v_rev;
  select * into v_known from sync.presence p
  where p.tenant_id = p_tenant and p.app_id = p_app and p.topic = p_topic and p.node_id = p_node;
  v_is_there := found and v_known.present;

  if p_data is null then
    if not v_is_there then return 'absent'; end if;
    update sync.presence p
    set present = false, data = 'null', rev = v_rev, updated_at = clock_timestamp(), expires_at = clock_timestamp() + interval '1 minute'
    where p.tenant_id = p_tenant and p.app_id = p_app and p.topic = p_topic and p.node_id = p_node;
    return 'leave';
  end if;

  if v_is_there then
    update sync.presence p
    set data = p_data, rev = case when p.data = p_data then p.rev else v_rev end, updated_at = clock_timestamp(),
      expires_at = clock_timestamp() + p_ttl_ms * interval '1 millisecond'
    where p.tenant_id = p_tenant and p.app_id = p_app and p.topic = p_topic and p.node_id = p_node;
    return case when v_known.data = p_data then 'same' else 'update' end;
  end if;

  if (
    select count(*) from sync.presence p
    where p.tenant_id = p_tenant and p.app_id = p_app and p.topic = p_topic and p.present
  ) >= p_most_nodes then return 'topic'; end if;
  if (
    select count(*) from sync.presence p
    where p.tenant_id = p_tenant and p.app_id = p_app and p.node_id = p_node and p.present
  ) >= p_most_topics then return 'node'; end if;
  insert into sync.presence (tenant_id, app_id, topic, node_id, data, present, joined_rev, rev, updated_at, expires_at)
  values (
    p_tenant, p_app, p_topic, p_node, p_data, true, v_rev, v_rev, clock_timestamp(),
    clock_timestamp() + p_ttl_ms * interval '1 millisecond'
  )
  on conflict on constraint presence_pkey do update set
    data = excluded.data, present = true, joined_rev = excluded.joined_rev, rev = excluded.rev,
    updated_at = excluded.updated_at, expires_at = excluded.expires_at;
  return 'join';
end
$$;

-- Lets those leave whose time has passed, and returns their data sets; forgets those that left a minute ago.
create function sync.expire_presence(p_batch integer) returns table (tenant_id text, app_id text) language plpgsql as $$
#variable_conflict use_column
declare
  v_set record;
  v_rev bigint;
begin
  for v_set in
    select distinct d.tenant_id, d.app_id from (
      select p.tenant_id, p.app_id from sync.presence p
      where p.present and p.expires_at <= clock_timestamp() order by p.expires_at limit p_batch
    ) as d
    order by d.tenant_id, d.app_id
  loop
    select c.rev into v_rev from sync.presence_clocks c
    where c.tenant_id = v_set.tenant_id and c.app_id = v_set.app_id for update skip locked;
    -- Somebody announces presence at this moment: the next call, a second later, finds it.
    continue when not found;
    v_rev := sync.next_presence_rev(v_rev);
    with gone as (
      select p.ctid as place, row_number() over (order by p.expires_at) - 1 as ahead from sync.presence p
      where p.tenant_id = v_set.tenant_id and p.app_id = v_set.app_id and p.present and p.expires_at <= clock_timestamp()
      limit p_batch
    ), left_now as (
      update sync.presence p
      set present = false, data = 'null', rev = v_rev + gone.ahead, expires_at = clock_timestamp() + interval '1 minute'
      from gone where p.ctid = gone.place
      returning p.rev
    )
    update sync.presence_clocks c set rev = (select max(rev) from left_now)
    where c.tenant_id = v_set.tenant_id and c.app_id = v_set.app_id and exists (select from left_now);
    tenant_id := v_set.tenant_id;
    app_id := v_set.app_id;
    return next;
  end loop;
  delete from sync.presence p where p.ctid = any(array(
    select l.ctid from sync.presence l where not l.present and l.expires_at <= clock_timestamp() limit p_batch
  ));
end
$$;
