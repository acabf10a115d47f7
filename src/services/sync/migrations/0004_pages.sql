-- The cells of some tables, or of all, that arrived after a stamp, in the order of their arrival, up to so many rows and bytes. `total`
-- is how many there would be without the bytes, and at most one more than the limit. A function, because only that lets it forbid to
-- sort all cells of a table instead of reading the index: with a new table, whose size nobody knows yet, both seem to cost the same.
create function sync.page(
  p_tenant text, p_app text, p_tables text[], p_after bigint, p_limit integer, p_bytes integer, p_cell_bytes integer
) returns table (
  total bigint, tbl text, pk text, field text, kind text, sub text, hlc text, value text, inc bigint, "dec" bigint, removed text,
  arrival bigint
) language plpgsql stable
set plan_cache_mode = force_generic_plan
set jit = off
set enable_sort = off
set enable_bitmapscan = off
set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  return query
  select sized.total, sized.tbl, sized.pk, sized.field, sized.kind, sized.sub, sized.hlc, sized.value, sized.inc, sized.dec,
    sized.removed, sized.arrival
  from (
    select found.*, count(*) over () as total,
      sum(octet_length(found.value) + p_cell_bytes) over (order by found.arrival) - octet_length(found.value) as before_it
    from (
      select cell.* from sync.tables as named
      cross join lateral (
        select c.* from sync.cells as c
        where c.tenant_id = p_tenant and c.app_id = p_app and c.tbl = named.tbl and c.arrival > p_after
        order by c.tenant_id, c.app_id, c.tbl, c.arrival limit p_limit + 1
      ) as cell
      where named.tenant_id = p_tenant and named.app_id = p_app and (p_tables is null or named.tbl = any(p_tables))
      order by cell.arrival limit p_limit + 1
    ) as found
  ) as sized
  where sized.before_it <= p_bytes
  order by sized.arrival limit p_limit;
end
$$;
