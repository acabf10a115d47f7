-- The totals of a node usually grow. When they fall, because the node lost its storage, it depends on the deletions of the record which
-- of them count; so the latest ones keep their key, and those that are larger than all later ones stand beside them, under keys with
-- their time. Then the state is a function of what arrived, in whatever order: `sdk/src/sync/merge.ts` has the same rule.
create function sync.merge_fallen(p_tenant text, p_app text, p_given sync.arriving[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  -- `value` is the rest of its key.
  v_kept sync.arriving[];
begin
  with arrived as (
    select g.* from unnest(p_given) as g
    where g.kind = 'c' and not exists (
      select from sync.tombstones d
      where d.tenant_id = p_tenant and d.app_id = p_app and d.tbl = g.tbl and d.pk = g.pk and d.hlc >= g.hlc
    ) and not exists (
      select from sync.cells c
      where c.tenant_id = p_tenant and c.app_id = p_app and c.tbl = g.tbl and c.pk = g.pk and c.field = g.field and c.kind = 'c'
        and c.sub in (g.sub, g.sub || '|' || g.hlc) and c.hlc >= g.hlc and c.inc >= g.inc and c.dec >= g.dec
    )
  ), told as (
    select a.tbl, a.pk, a.field, a.sub, a.hlc, a.inc, a.dec, a.arrival from arrived a
    union all
    select s.tbl, s.pk, s.field, s.sub, c.hlc, c.inc, c.dec, c.arrival
    from (select distinct a.tbl, a.pk, a.field, a.sub from arrived a) as s
    join sync.cells c on c.tenant_id = p_tenant and c.app_id = p_app and c.tbl = s.tbl and c.pk = s.pk and c.field = s.field
      and c.kind = 'c' and c.sub >= s.sub and c.sub < s.sub || '}' and (c.sub = s.sub or c.sub > s.sub || '|')
  ), at_one_time as (
    select tbl, pk, field, sub, hlc, max(inc) as inc, max(dec) as dec, max(arrival) as arrival from told
    group by tbl, pk, field, sub, hlc
  ), compared as (
    select *, max(inc) over later as later_inc, max(dec) over later as later_dec from at_one_time
    window later as (partition by tbl, pk, field, sub order by hlc desc rows between unbounded preceding and 1 preceding)
  )
  select array_agg((
    tbl, pk, field, 'c', sub, hlc, case when later_inc is null then '' else '|' || hlc end, inc, dec, '', arrival, false
  )::sync.arriving) into v_kept
  from compared where later_inc is null or inc > later_inc or dec > later_dec;
  if v_kept is null then return; end if;

  delete from sync.cells c using (select distinct k.tbl, k.pk, k.field, k.sub from unnest(v_kept) as k) as s
  where c.tenant_id = p_tenant and c.app_id = p_app and c.tbl = s.tbl and c.pk = s.pk and c.field = s.field
    and c.kind = 'c' and c.sub >= s.sub and c.sub < s.sub || '}' and (c.sub = s.sub or c.sub > s.sub || '|');
  insert into sync.cells (tenant_id, app_id, tbl, pk, field, kind, sub, hlc, value, inc, dec, removed, arrival)
  select p_tenant, p_app, k.tbl, k.pk, k.field, 'c', k.sub || k.value, k.hlc, '', k.inc, k.dec, '', k.arrival
  from unnest(v_kept) as k;
end
$$;

-- The join of cells with those that are stored; a row that learns nothing keeps its arrival. `p_kinds` are the kinds that occur.
create or replace function sync.merge(
  p_tenant text, p_app text, p_epoch text, p_given sync.arriving[], p_kinds text, p_replaces boolean
) returns void language plpgsql
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_merged bigint;
begin
  if strpos(p_kinds, 't') > 0 then
    insert into sync.tombstones as known (tenant_id, app_id, tbl, pk, hlc)
    select p_tenant, p_app, g.tbl, g.pk, max(g.hlc) from unnest(p_given) as g where g.kind = 't' group by g.tbl, g.pk
    on conflict on constraint tombstones_pkey do update set hlc = excluded.hlc where excluded.hlc > known.hlc;
    insert into sync.cells as known (tenant_id, app_id, tbl, pk, field, kind, sub, hlc, value, inc, dec, removed, arrival)
    select distinct on (g.tbl, g.pk) p_tenant, p_app, g.tbl, g.pk, '', 't', '', g.hlc, '', 0, 0, '', g.arrival
    from unnest(p_given) as g where g.kind = 't'
    order by g.tbl, g.pk, g.hlc desc
    on conflict on constraint cells_pkey do update set hlc = excluded.hlc, arrival = excluded.arrival
    where excluded.hlc > known.hlc;
    delete from sync.cells c
    using (select distinct g.tbl, g.pk from unnest(p_given) as g where g.kind = 't') as g, sync.tombstones d
    where d.tenant_id = p_tenant and d.app_id = p_app and d.tbl = g.tbl and d.pk = g.pk
      and c.tenant_id = p_tenant and c.app_id = p_app and c.tbl = g.tbl and c.pk = g.pk and c.kind <> 't' and c.hlc <= d.hlc;
  end if;

  if strpos(p_kinds, 'l') > 0 then
    insert into sync.cells as known (tenant_id, app_id, tbl, pk, field, kind, sub, hlc, value, inc, dec, removed, arrival)
    select distinct on (g.tbl, g.pk, g.field)
      p_tenant, p_app, g.tbl, g.pk, g.field, 'l', '', g.hlc, g.value, 0, 0, '', g.arrival
    from unnest(p_given) as g
    where g.kind = 'l' and not exists (
      select from sync.tombstones d
      where d.tenant_id = p_tenant and d.app_id = p_app and d.tbl = g.tbl and d.pk = g.pk and d.hlc >= g.hlc
    )
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
      where g.kind = 'c' and not exists (
        select from sync.tombstones d
        where d.tenant_id = p_tenant and d.app_id = p_app and d.tbl = g.tbl and d.pk = g.pk and d.hlc >= g.hlc
      )
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
    where g.kind = 's' and not exists (
      select from sync.tombstones d
      where d.tenant_id = p_tenant and d.app_id = p_app and d.tbl = g.tbl and d.pk = g.pk and d.hlc >= g.hlc
    )
    group by g.tbl, g.pk, g.field, g.sub
    on conflict on constraint cells_pkey do update set removed = excluded.removed, arrival = excluded.arrival
    where excluded.removed > known.removed;
  end if;

  if p_replaces then perform sync.replace(p_tenant, p_app, p_epoch, p_given); end if;
end
$$;
