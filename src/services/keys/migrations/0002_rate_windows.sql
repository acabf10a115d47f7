-- Units counted for each key in the last eleven tenths of its rate window: they cover any interval of the window's length,
-- so a sum of at most the limit bounds every such interval. `counts[1]` is the tenth number `slot` since the epoch,
-- `counts[11]` the oldest. Rows change in place all the time: the free half of a page keeps those updates off the index.
create table keys.rate_windows (
  tenant_id text collate "C" not null,
  key_id text collate "C" not null,
  sub_ms bigint not null,
  slot bigint not null,
  counts integer[] not null,
  -- When the window last changed, in milliseconds since the epoch.
  changed_ms double precision not null default 0,
  constraint rate_windows_pkey primary key (tenant_id, key_id),
  constraint rate_windows_counts check (cardinality(counts) = 11)
) with (fillfactor = 50);

-- Grants up to `p_want` units, nothing when fewer than `p_min` are left, and counts them in the newest tenth.
--   left_ms   until that tenth ends: the grant may be spent only so long
--   used      units counted now, this grant included
--   wait_ms   until `p_min` units can be left, null when they never can be; 0 with a grant
--   reset_ms  until the oldest units counted leave the count
-- A changed window empties the counts. For two seconds after that the one before is not returned to: a process that has not
-- heard of the change yet counts with the others, or each of the two would empty what the other has counted.
-- `p_want` 0 only reads. Call it as `select … from keys.reserve(…)`: `(f()).*` would run it once for each column.
create function keys.reserve(
  p_tenant text, p_key text, p_limit integer, p_window_ms bigint, p_want integer, p_min integer,
  out granted integer, out left_ms double precision, out used integer, out wait_ms double precision,
  out reset_ms double precision, out slot bigint
) language plpgsql as $$
declare
  nothing constant integer[] := array_fill(0, array[11]);
  v_sub bigint := (p_window_ms + 9) / 10;
  v_clock double precision;
  v_row record;
  v_counts integer[] := nothing;
  v_freed integer := 0;
begin
  -- A crash of the database may forget the counts of its last moments; waiting for the disk would cost every request.
  -- A SET clause of the function would be undone before the commit.
  perform set_config('synchronous_commit', 'off', true);
  if p_want = 0 then
    select w.sub_ms, w.slot, w.counts, w.changed_ms into v_row
    from keys.rate_windows w where w.tenant_id = p_tenant and w.key_id = p_key;
  else
    loop
      select w.sub_ms, w.slot, w.counts, w.changed_ms into v_row
      from keys.rate_windows w where w.tenant_id = p_tenant and w.key_id = p_key
      for update;
      exit when found;
      insert into keys.rate_windows (tenant_id, key_id, sub_ms, slot, counts)
      values (p_tenant, p_key, v_sub, 0, nothing)
      on conflict on constraint rate_windows_pkey do nothing;
    end loop;
  end if;

  -- The clock is read after the lock: whoever waited counts in the tenth in which it was served.
  v_clock := extract(epoch from clock_timestamp()) * 1000;
  if v_row.sub_ms <> v_sub and abs(v_clock - v_row.changed_ms) < 2000 then v_sub := v_row.sub_ms; end if;
  slot := floor(v_clock / v_sub);
  if v_row.sub_ms = v_sub then
    if v_row.slot <= slot then
      v_counts := (array_fill(0, array[least(slot - v_row.slot, 11)::integer]) || v_row.counts)[1:11];
    else
      -- The clock went back. One tenth is waited out; after a longer step the counts keep their age and move with it.
      v_counts := v_row.counts;
      if v_row.slot = slot + 1 then slot := v_row.slot; end if;
    end if;
  end if;

  select sum(c) into used from unnest(v_counts) as c;
  granted := case when p_limit - used >= p_min then greatest(least(p_want, p_limit - used), 0) else 0 end;
  left_ms := least((slot + 1) * v_sub - v_clock, v_sub);
  wait_ms := 0;
  reset_ms := 0;
  if granted > 0 then
    v_counts[1] := v_counts[1] + granted;
    used := used + granted;
    update keys.rate_windows w
    set sub_ms = v_sub, slot = reserve.slot, counts = v_counts,
      changed_ms = case when w.sub_ms = v_sub then w.changed_ms else v_clock end
    where w.tenant_id = p_tenant and w.key_id = p_key;
  elsif p_min > p_limit then
    wait_ms := null;
  end if;
  for v_age in reverse 11..1 loop
    if v_counts[v_age] > 0 and v_freed = 0 then
      reset_ms := (slot - v_age + 12) * v_sub - v_clock;
    end if;
    v_freed := v_freed + v_counts[v_age];
    if granted = 0 and p_min > p_limit - used and used - v_freed + p_min <= p_limit then
      wait_ms := (slot - v_age + 12) * v_sub - v_clock;
      exit;
    end if;
  end loop;
end
$$;

-- Takes units that were granted and not spent out of the tenth they were counted in, if it is still counted.
create function keys.give_back(p_tenants text[], p_keys text[], p_subs bigint[], p_slots bigint[], p_units integer[])
returns void language plpgsql as $$
declare
  v_rest record;
begin
  perform set_config('synchronous_commit', 'off', true);
  -- In the order of the primary key, so that two processes that give back at once cannot wait for each other.
  for v_rest in
    select tenant_id, key_id, sub_ms, slot, units
    from unnest(p_tenants, p_keys, p_subs, p_slots, p_units) as rest(tenant_id, key_id, sub_ms, slot, units)
    order by tenant_id collate "C", key_id collate "C"
  loop
    update keys.rate_windows w
    set counts[(w.slot - v_rest.slot)::integer + 1] =
      greatest(w.counts[(w.slot - v_rest.slot)::integer + 1] - v_rest.units, 0)
    where w.tenant_id = v_rest.tenant_id and w.key_id = v_rest.key_id
      and w.sub_ms = v_rest.sub_ms and w.slot - v_rest.slot between 0 and 10;
  end loop;
end
$$;
