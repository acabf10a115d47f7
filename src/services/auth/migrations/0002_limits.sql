-- Attempts count from the moment they begin: `failures` in auth.throttles holds those that failed and those under way.

-- Counts an attempt on all of these counters, or on none where one of them says to wait: how many are evaluated does not depend on
-- how many come at once. `p_hashes` are in ascending order, so that two attempts never wait for each other.
--   p_free, p_waits  how many failures are free, and the seconds to wait after each further one; the last holds for all that follow
--   p_memory         seconds without another failure after which a counter begins anew
--   seconds          to wait; 0 where the attempt is counted
--   at, before       when it was counted, and the failure before it on each counter (0 for none), in milliseconds since the
--                    epoch: what give_back_attempt needs
create function auth.reserve_attempt(
  p_tenant text, p_hashes bytea[], p_account bytea, p_free integer[], p_waits jsonb, p_memory double precision,
  out seconds double precision, out at double precision, out before double precision[]
) language plpgsql as $$
declare
  v_now timestamptz(3);
  v_row record;
  v_failures integer[] := '{}';
  v_last timestamptz[] := '{}';
  v_new bytea[] := '{}';
  v_waits jsonb;
begin
  -- A crash of the database may forget the attempts of its last moments; waiting for the disk would cost every sign-in.
  perform set_config('synchronous_commit', 'off', true);
  for i in 1..cardinality(p_hashes) loop
    loop
      select t.failures, t.last_at into v_row
      from auth.throttles t where t.tenant_id = p_tenant and t.hash = p_hashes[i]
      for update;
      exit when found;
      insert into auth.throttles (tenant_id, hash, account, failures, last_at)
      values (p_tenant, p_hashes[i], p_account, 0, clock_timestamp())
      on conflict (tenant_id, hash) do nothing;
      if found then v_new := array_append(v_new, p_hashes[i]); end if;
    end loop;
    v_failures[i] := v_row.failures;
    v_last[i] := v_row.last_at;
  end loop;

  -- The clock is read after the locks: whoever waited for them is judged by the time at which it was its turn.
  v_now := clock_timestamp();
  seconds := 0;
  for i in 1..cardinality(p_hashes) loop
    -- A failure of the future is one of a clock that was set back: it waits from now on, and not until that time comes again.
    v_last[i] := least(v_last[i], v_now);
    if v_last[i] <= v_now - p_memory * interval '1 second' then v_failures[i] := 0; end if;
    before[i] := case when v_failures[i] > 0 then extract(epoch from v_last[i]) * 1000 else 0 end;
    if v_failures[i] >= p_free[i] then
      v_waits := p_waits -> (i - 1);
      seconds := greatest(
        seconds,
        (v_waits ->> least(v_failures[i] - p_free[i], jsonb_array_length(v_waits) - 1))::double precision
          - extract(epoch from v_now - v_last[i])
      );
    end if;
  end loop;

  if seconds > 0 then
    update auth.throttles t set last_at = v_now
    where t.tenant_id = p_tenant and t.hash = any(p_hashes) and t.last_at > v_now;
    delete from auth.throttles t where t.tenant_id = p_tenant and t.hash = any(v_new);
    return;
  end if;
  at := extract(epoch from v_now) * 1000;
  update auth.throttles t set failures = counted.failures + 1, last_at = v_now
  from unnest(p_hashes, v_failures) as counted(hash, failures)
  where t.tenant_id = p_tenant and t.hash = counted.hash;
end
$$;

-- Takes an attempt that did not fail off its counters. `p_hashes` are in ascending order. `p_forgotten` are the counters, in hex,
-- whose other failures it makes forgotten, too.
create function auth.give_back_attempt(
  p_tenant text, p_hashes bytea[], p_at double precision, p_before double precision[], p_forgotten text[]
) returns void language plpgsql as $$
declare
  v_held bytea[] := '{}';
begin
  -- Only what was locked in order is changed: a counter that another attempt deletes and a third one makes anew while this one
  -- waits would be locked out of order, and is not the one on which this attempt was counted.
  for i in 1..cardinality(p_hashes) loop
    perform from auth.throttles t where t.tenant_id = p_tenant and t.hash = p_hashes[i] for update;
    if found then v_held := array_append(v_held, p_hashes[i]); end if;
  end loop;
  update auth.throttles t
  set
    failures = t.failures - 1,
    last_at = case
      when given.before > 0 and extract(epoch from t.last_at) * 1000 = p_at
        then to_timestamp(given.before / 1000)
      else t.last_at
    end
  from unnest(p_hashes, p_before) as given(hash, before)
  where t.tenant_id = p_tenant and t.hash = given.hash and t.hash = any(v_held) and t.failures > 0;
  delete from auth.throttles t
  where t.tenant_id = p_tenant and t.hash = any(v_held) and (t.failures = 0 or encode(t.hash, 'hex') = any(p_forgotten));
end
$$;

-- What was counted in the last eleven tenths of a quota's window: they cover any interval of the window's length, so a sum of at
-- most the quota bounds every such interval. `counts[1]` is the tenth number `slot` since the epoch, `counts[11]` the oldest.
create table auth.quotas (
  tenant_id text collate "C" not null,
  hash bytea not null,
  sub_ms bigint not null,
  slot bigint not null,
  counts integer[] not null,
  -- When nothing of it counts any more.
  ends_at timestamptz(3) not null,
  primary key (tenant_id, hash),
  constraint quotas_counts check (cardinality(counts) = 11)
);
create index quotas_end on auth.quotas (ends_at);

-- Counts one on all of these quotas, or on none where one of them is used up. `p_hashes` are in ascending order. Until the end of
-- the transaction nobody else counts on them; where it fails, nothing was counted.
--   waits  the seconds until each has one left; 0 where it has
create function auth.take_quotas(
  p_tenant text, p_hashes bytea[], p_most integer[], p_window_ms bigint[], out waits double precision[]
) language plpgsql as $$
declare
  nothing constant integer[] := array_fill(0, array[11]);
  v_clock double precision;
  v_row record;
  v_sub bigint;
  v_slot bigint;
  v_slots bigint[] := '{}';
  v_counts integer[];
  v_kept integer[][] := '{}';
  v_new bytea[] := '{}';
  v_used integer;
  v_freed integer;
  v_free boolean := true;
begin
  for i in 1..cardinality(p_hashes) loop
    loop
      select q.slot into v_row from auth.quotas q where q.tenant_id = p_tenant and q.hash = p_hashes[i] for update;
      exit when found;
      insert into auth.quotas (tenant_id, hash, sub_ms, slot, counts, ends_at)
      values (p_tenant, p_hashes[i], (p_window_ms[i] + 9) / 10, 0, nothing, clock_timestamp())
      on conflict (tenant_id, hash) do nothing;
      if found then v_new := array_append(v_new, p_hashes[i]); end if;
    end loop;
  end loop;

  -- The clock is read after the locks: whoever waited counts in the tenth in which it was its turn.
  v_clock := extract(epoch from clock_timestamp()) * 1000;
  for i in 1..cardinality(p_hashes) loop
    select q.slot, q.sub_ms, q.counts into v_row
    from auth.quotas q where q.tenant_id = p_tenant and q.hash = p_hashes[i];
    v_sub := (p_window_ms[i] + 9) / 10;
    v_slot := floor(v_clock / v_sub);
    v_counts := nothing;
    if v_row.sub_ms = v_sub then
      if v_row.slot <= v_slot then
        v_counts := (array_fill(0, array[least(v_slot - v_row.slot, 11)::integer]) || v_row.counts)[1:11];
      else
        -- The clock went back. One tenth is waited out; after a longer step the counts keep their age and move with it.
        v_counts := v_row.counts;
        if v_row.slot = v_slot + 1 then v_slot := v_row.slot; end if;
      end if;
    end if;
    select sum(c) into v_used from unnest(v_counts) as c;
    waits[i] := 0;
    v_freed := 0;
    if v_used >= p_most[i] then
      v_free := false;
      for v_age in reverse 11..1 loop
        v_freed := v_freed + v_counts[v_age];
        if v_used - v_freed < p_most[i] then
          waits[i] := greatest((v_slot - v_age + 12) * v_sub - v_clock, 1) / 1000;
          exit;
        end if;
      end loop;
    end if;
    v_counts[1] := v_counts[1] + 1;
    v_slots[i] := v_slot;
    v_kept := v_kept || array[v_counts];
  end loop;

  if not v_free then
    delete from auth.quotas q where q.tenant_id = p_tenant and q.hash = any(v_new);
    return;
  end if;
  for i in 1..cardinality(p_hashes) loop
    v_sub := (p_window_ms[i] + 9) / 10;
    select array_agg(v_kept[i][age] order by age) into v_counts from generate_series(1, 11) as age;
    update auth.quotas q
    set sub_ms = v_sub, slot = v_slots[i], counts = v_counts,
      ends_at = to_timestamp((v_slots[i] + 12) * v_sub / 1000.0)
    where q.tenant_id = p_tenant and q.hash = p_hashes[i];
  end loop;
end
$$;

-- Texts to a number are one quota among others.
drop table auth.text_sends;

-- From which network a message was asked for, hidden; its quota counts when the message is made.
alter table auth.requests add column network text collate "C";
