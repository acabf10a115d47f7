-- The functions of 0005 with two changes.
--
-- Each table knows the latest reading of its deletions: what was written after it is covered by none, and most of what arrives was. And
-- what all cells of a push have in common is sent once.

alter table sync.tables add column deleted_hlc text collate "C" not null default '';
update sync.tables t set deleted_hlc = coalesce((
  select max(d.hlc) from sync.tombstones d where d.tenant_id = t.tenant_id and d.app_id = t.app_id and d.tbl = t.tbl
), '');

-- Merges pushes of one data set, each as a whole or not at all, and returns a verdict for each: `ok`, `drift`, `stale`, `tables` or
-- `owner`. A function, because each of its statements sees what was committed while the lock was waited for, and because nothing
-- waits for the network while it holds the lock. Its plans never read a whole table, however little is known about the tables.
--   p_requests   each push: `highest`, its highest reading as a stamp; `oldest`, the lowest reading that may be stale
--   p_request …  the cells of all pushes, each with the number of its push; but for p_pk, an array of one value has it for all cells
create or replace function sync.push(
  p_tenant text, p_app text, p_epoch text, p_drift bigint, p_most_tables integer,
  p_node text[], p_owner text[], p_exempt boolean[], p_actor text[], p_request_id text[],
  p_highest bigint[], p_oldest text[], p_claimed_event text[], p_pushed_event text[], p_pushed_data text[],
  p_table_request integer[], p_table text[], p_table_latest text[],
  p_kinds text, p_replaces boolean,
  p_request integer[], p_tbl text[], p_pk text[], p_field text[], p_kind text[], p_sub text[], p_hlc text[], p_value text[],
  p_inc bigint[], p_dec bigint[], p_removed text[], p_is_replaced boolean[]
) returns table (verdict text, now_ms bigint, reading bigint) language plpgsql
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set enable_sort = off
as $$
#variable_conflict use_column
declare
  v_clock bigint;
  v_epoch text;
  v_now bigint;
  v_verdicts text[];
  v_at integer;
  v_room integer;
  v_new text[];
  v_given sync.arriving[];
  v_deleted text;
begin
  select d.clock, d.epoch into v_clock, v_epoch
  from sync.datasets d where d.tenant_id = p_tenant and d.app_id = p_app for update;
  if not found then
    insert into sync.datasets (tenant_id, app_id, epoch) values (p_tenant, p_app, p_epoch)
    on conflict on constraint datasets_pkey do nothing;
    select d.clock, d.epoch into v_clock, v_epoch
    from sync.datasets d where d.tenant_id = p_tenant and d.app_id = p_app for update;
  end if;
  -- The clock is read after the lock: whoever waited is judged by the time at which it was its turn.
  v_now := floor(extract(epoch from clock_timestamp()) * 1000);
  select array_agg(case when (r.highest >> 16) > v_now + p_drift then 'drift' else 'ok' end order by r.at) into v_verdicts
  from unnest(p_highest) with ordinality as r(highest, at);

  -- A cell that no deletion covers and that is not known may have been deleted, and the deletion forgotten.
  if exists (
    select from sync.tables t where t.tenant_id = p_tenant and t.app_id = p_app and t.horizon_hlc >= (
      select min(r.oldest collate "C") from unnest(p_oldest) as r(oldest) where r.oldest <> ''
    )
  ) then
    for v_at in
      select distinct g.request
      from (
        select coalesce(g.request, p_request[1]) as request, coalesce(g.tbl, p_tbl[1]) as tbl, g.pk,
          coalesce(g.field, p_field[1]) as field, coalesce(g.kind, p_kind[1]) as kind, coalesce(g.sub, p_sub[1]) as sub,
          coalesce(g.hlc, p_hlc[1]) as hlc, coalesce(g.inc, p_inc[1]) as inc, coalesce(g.dec, p_dec[1]) as dec,
          coalesce(g.removed, p_removed[1]) as removed
        from unnest(p_request, p_tbl, p_pk, p_field, p_kind, p_sub, p_hlc, p_inc, p_dec, p_removed)
          as g(request, tbl, pk, field, kind, sub, hlc, inc, dec, removed)
      ) as g
      where v_verdicts[g.request] = 'ok' and g.kind in ('l', 'c', 's', 'r') and g.removed = ''
        and exists (
          select from sync.tables t
          where t.tenant_id = p_tenant and t.app_id = p_app and t.tbl = g.tbl and t.horizon_hlc >= g.hlc
        )
        and not coalesce((
          select d.hlc >= g.hlc from sync.tombstones d
          where d.tenant_id = p_tenant and d.app_id = p_app and d.tbl = g.tbl and d.pk = g.pk
        ), false)
        and not coalesce((
          -- Totals that are known by a later time only may have been deleted before it, unless they are no larger.
          select g.kind <> 'c' or c.hlc <= g.hlc or (c.inc >= g.inc and c.dec >= g.dec) from sync.cells c
          where c.tenant_id = p_tenant and c.app_id = p_app and c.tbl = g.tbl and c.pk = g.pk and c.field = g.field
            and c.kind = case g.kind when 'r' then 's' else g.kind end and c.sub >= g.sub and c.sub <= g.sub
          order by c.tenant_id, c.app_id, c.tbl, c.pk, c.field, c.kind, c.sub limit 1
        ), false)
    loop
      v_verdicts[v_at] := 'stale';
    end loop;
  end if;

  -- Tables are made by their first change, as long as there is room.
  select coalesce(array_agg(distinct g.tbl), '{}') into v_new
  from unnest(p_table) as g(tbl)
  where not exists (select from sync.tables t where t.tenant_id = p_tenant and t.app_id = p_app and t.tbl = g.tbl);
  if v_new <> '{}' then
    select p_most_tables - count(*) into v_room from sync.tables t where t.tenant_id = p_tenant and t.app_id = p_app;
    for i in 1..cardinality(p_node) loop
      continue when v_verdicts[i] <> 'ok';
      declare
        v_mine text[] := array(
          select g.tbl from unnest(p_table_request, p_table) as g(request, tbl) where g.request = i and g.tbl = any(v_new)
        );
      begin
        if cardinality(v_mine) > v_room then
          v_verdicts[i] := 'tables';
        else
          v_room := v_room - cardinality(v_mine);
          v_new := array(select n.tbl from unnest(v_new) as n(tbl) where n.tbl <> all(v_mine));
        end if;
      end;
    end loop;
  end if;

  -- Most ids are held already, which one statement sees.
  for v_at in
    select r.at from unnest(p_node, p_owner, p_exempt) with ordinality as r(node, owner, exempt, at)
    where v_verdicts[r.at] = 'ok' and not coalesce((
      select r.exempt or n.owner = r.owner from sync.nodes n
      where n.tenant_id = p_tenant and n.app_id = p_app and n.node_id >= r.node and n.node_id <= r.node
      order by n.tenant_id, n.app_id, n.node_id limit 1
    ), false)
    order by r.at
  loop
    if sync.claim(
      p_tenant, p_app, p_node[v_at], p_owner[v_at], p_exempt[v_at], p_claimed_event[v_at], p_actor[v_at], p_request_id[v_at]
    ) = 'refused' then v_verdicts[v_at] := 'owner'; end if;
  end loop;
  update sync.nodes n set last_push_at = clock_timestamp()
  where n.tenant_id = p_tenant and n.app_id = p_app and n.node_id = any(array(
    select r.node from unnest(p_node) with ordinality as r(node, at) where v_verdicts[r.at] = 'ok'
  ));

  -- Each cell gets a stamp of its own, in the order of the pushes; what is refused cannot move the clock.
  v_clock := greatest(v_clock, (
    select max(r.highest) from unnest(p_highest) with ordinality as r(highest, at) where v_verdicts[r.at] = 'ok'
  ));
  select array_agg((
    coalesce(g.tbl, p_tbl[1]), g.pk, coalesce(g.field, p_field[1]), coalesce(g.kind, p_kind[1]), coalesce(g.sub, p_sub[1]),
    coalesce(g.hlc, p_hlc[1]), coalesce(g.value, p_value[1]), coalesce(g.inc, p_inc[1]), coalesce(g.dec, p_dec[1]),
    coalesce(g.removed, p_removed[1]), greatest(v_clock, v_now << 16) + g.at, coalesce(g.replaced, p_is_replaced[1])
  )::sync.arriving) into v_given
  from unnest(
    p_request, p_tbl, p_pk, p_field, p_kind, p_sub, p_hlc, p_value, p_inc, p_dec, p_removed, p_is_replaced
  ) with ordinality as g(request, tbl, pk, field, kind, sub, hlc, value, inc, dec, removed, replaced, at)
  where v_verdicts[coalesce(g.request, p_request[1])] = 'ok';

  if v_given is not null then
    v_clock := greatest(v_clock, v_now << 16) + cardinality(p_pk);
    select max(t.deleted_hlc) into v_deleted
    from sync.tables t where t.tenant_id = p_tenant and t.app_id = p_app and t.tbl = any(p_table);
    perform sync.merge(p_tenant, p_app, v_epoch, v_given, p_kinds, p_replaces, coalesce(v_deleted, ''));
    update sync.datasets d set clock = v_clock where d.tenant_id = p_tenant and d.app_id = p_app;
    insert into sync.tables as known (tenant_id, app_id, tbl, latest_hlc)
    select p_tenant, p_app, g.tbl, max(g.latest collate "C")
    from unnest(p_table_request, p_table, p_table_latest) as g(request, tbl, latest)
    where v_verdicts[g.request] = 'ok'
    group by g.tbl
    on conflict on constraint tables_pkey do update set latest_hlc = excluded.latest_hlc
    where excluded.latest_hlc > known.latest_hlc;
    insert into sync.outbox (tenant_id, id, type, subject, app_id, actor, data, request_id)
    select p_tenant, e.id, 'sync.changes.pushed', e.node, p_app, e.actor, e.data::jsonb, e.request_id
    from unnest(p_pushed_event, p_node, p_actor, p_pushed_data, p_request_id) with ordinality
      as e(id, node, actor, data, request_id, at)
    where v_verdicts[e.at] = 'ok' and e.data is not null
    order by e.at;
  end if;
  return query select v.verdict, v_now, greatest(v_clock, v_now << 16)
  from unnest(v_verdicts) with ordinality as v(verdict, at) order by v.at;
end
$$;

-- The join of cells with those that are stored; a row that learns nothing keeps its arrival. `p_kinds` are the kinds that occur, and
-- `p_deleted` is the latest reading of the deletions that their tables had before, or a later one.
create function sync.merge(
  p_tenant text, p_app text, p_epoch text, p_given sync.arriving[], p_kinds text, p_replaces boolean, p_deleted text
) returns void language plpgsql
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set enable_sort = off
as $$
#variable_conflict use_column
declare
  v_merged bigint;
  v_deleted text := p_deleted;
begin
  if strpos(p_kinds, 't') > 0 then
    select greatest(v_deleted, max(g.hlc)) into v_deleted from unnest(p_given) as g where g.kind = 't';
    insert into sync.tombstones as known (tenant_id, app_id, tbl, pk, hlc)
    select p_tenant, p_app, g.tbl, g.pk, max(g.hlc) from unnest(p_given) as g where g.kind = 't' group by g.tbl, g.pk
    on conflict on constraint tombstones_pkey do update set hlc = excluded.hlc where excluded.hlc > known.hlc;
    insert into sync.cells as known (tenant_id, app_id, tbl, pk, field, kind, sub, hlc, value, inc, dec, removed, arrival)
    select distinct on (g.tbl, g.pk) p_tenant, p_app, g.tbl, g.pk, '', 't', '', g.hlc, '', 0, 0, '', g.arrival
    from unnest(p_given) as g where g.kind = 't'
    order by g.tbl, g.pk, g.hlc desc
    on conflict on constraint cells_pkey do update set hlc = excluded.hlc, arrival = excluded.arrival
    where excluded.hlc > known.hlc;
    delete from sync.cells c where c.ctid = any(array(
      select covered.place from (select distinct g.tbl, g.pk from unnest(p_given) as g where g.kind = 't') as g
      cross join lateral (
        select c.ctid as place, c.kind, c.hlc from sync.cells c
        where c.tenant_id = p_tenant and c.app_id = p_app and c.tbl = g.tbl and c.pk = g.pk
        order by c.tenant_id, c.app_id, c.tbl, c.pk, c.field, c.kind, c.sub
      ) as covered
      where covered.kind <> 't' and covered.hlc <= (
        select d.hlc from sync.tombstones d
        where d.tenant_id = p_tenant and d.app_id = p_app and d.tbl = g.tbl and d.pk = g.pk
      )
    ));
  end if;

  if strpos(p_kinds, 'l') > 0 then
    insert into sync.cells as known (tenant_id, app_id, tbl, pk, field, kind, sub, hlc, value, inc, dec, removed, arrival)
    select distinct on (g.tbl, g.pk, g.field)
      p_tenant, p_app, g.tbl, g.pk, g.field, 'l', '', g.hlc, g.value, 0, 0, '', g.arrival
    from unnest(p_given) as g
    where g.kind = 'l' and (g.hlc > v_deleted or not coalesce((
      select d.hlc >= g.hlc from sync.tombstones d
      where d.tenant_id = p_tenant and d.app_id = p_app and d.tbl = g.tbl and d.pk = g.pk
    ), false))
    order by g.tbl, g.pk, g.field, g.hlc desc, g.value desc
    on conflict on constraint cells_pkey
    do update set hlc = excluded.hlc, value = excluded.value, arrival = excluded.arrival
    where excluded.hlc > known.hlc or (excluded.hlc = known.hlc and excluded.value > known.value);
  end if;

  if strpos(p_kinds, 'c') > 0 then
    with merged as (
      insert into sync.cells as known (tenant_id, app_id, tbl, pk, field, kind, sub, hlc, value, inc, dec, removed, arrival)
      select distinct on (g.tbl, g.pk, g.field, g.sub)
        p_tenant, p_app, g.tbl, g.pk, g.field, 'c', g.sub, g.hlc, '', g.inc, g.dec, '', g.arrival
      from unnest(p_given) as g
      where g.kind = 'c' and (g.hlc > v_deleted or not coalesce((
        select d.hlc >= g.hlc from sync.tombstones d
        where d.tenant_id = p_tenant and d.app_id = p_app and d.tbl = g.tbl and d.pk = g.pk
      ), false))
      order by g.tbl, g.pk, g.field, g.sub, g.hlc desc, g.inc desc, g.dec desc
      on conflict on constraint cells_pkey
      do update set hlc = excluded.hlc, inc = excluded.inc, dec = excluded.dec, arrival = excluded.arrival
      where excluded.hlc >= known.hlc and excluded.inc >= known.inc and excluded.dec >= known.dec
        and (excluded.hlc > known.hlc or excluded.inc > known.inc or excluded.dec > known.dec)
      returning true
    )
    select count(*) into v_merged from merged;
    -- The others are repeats, or several of one counter; few of them fell.
    if v_merged < (select count(*) from unnest(p_given) as g where g.kind = 'c') then
      perform sync.merge_fallen(p_tenant, p_app, p_given);
    end if;
  end if;

  if strpos(p_kinds, 's') > 0 then
    insert into sync.cells as known (tenant_id, app_id, tbl, pk, field, kind, sub, hlc, value, inc, dec, removed, arrival)
    select p_tenant, p_app, g.tbl, g.pk, g.field, 's', g.sub, max(g.hlc), max(g.value), 0, 0, max(g.removed), max(g.arrival)
    from unnest(p_given) as g
    where g.kind = 's' and (g.hlc > v_deleted or not coalesce((
      select d.hlc >= g.hlc from sync.tombstones d
      where d.tenant_id = p_tenant and d.app_id = p_app and d.tbl = g.tbl and d.pk = g.pk
    ), false))
    group by g.tbl, g.pk, g.field, g.sub
    on conflict on constraint cells_pkey do update set removed = excluded.removed, arrival = excluded.arrival
    where excluded.removed > known.removed;
  end if;

  if p_replaces then perform sync.replace(p_tenant, p_app, p_epoch, p_given); end if;

  if strpos(p_kinds, 't') > 0 then
    insert into sync.tables as known (tenant_id, app_id, tbl, latest_hlc, deleted_hlc)
    select p_tenant, p_app, g.tbl, max(g.hlc), max(g.hlc) from unnest(p_given) as g where g.kind = 't' group by g.tbl
    on conflict on constraint tables_pkey do update set deleted_hlc = excluded.deleted_hlc
    where excluded.deleted_hlc > known.deleted_hlc;
  end if;
end
$$;

-- For pushes that are at work while this is applied: their function still calls it so, and `~` is later than every reading.
create or replace function sync.merge(
  p_tenant text, p_app text, p_epoch text, p_given sync.arriving[], p_kinds text, p_replaces boolean
) returns void language sql as $$
  select sync.merge(p_tenant, p_app, p_epoch, p_given, p_kinds, p_replaces, '~')
$$;
