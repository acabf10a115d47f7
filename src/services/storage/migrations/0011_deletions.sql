-- Deletions seek each key by itself, because a statement that is planned for a new bucket would read all of a large one.

-- Deletes the objects under these keys; returns those that were there. Without event ids nothing is told.
create or replace function storage.delete_objects(
  p_tenant text, p_bucket text, p_keys text[], p_condition jsonb, p_quota jsonb, p_author jsonb, p_events text[]
) returns text[] language plpgsql
set enable_seqscan = off
as $$
declare
  v_bucket storage.buckets;
  v_found text[];
  v_places tid[];
  v_in_parts text[];
  v_lost text[];
  v_bytes bigint;
  v_broken boolean;
begin
  select * into v_bucket from storage.buckets where tenant_id = p_tenant and id = p_bucket for key share;
  if not found then return '{}'; end if;
  if v_bucket.name is null and p_events is not null then perform storage.refuse('bucket_gone'); end if;
  -- Every transaction locks objects in this order.
  with locked as (
    select held.* from (select distinct each.key collate "C" as key from unnest(p_keys) as each(key) order by 1) as asked
    cross join lateral (
      select objects.ctid as place, objects.key, size, etag, last_modified, blob_id, segments from storage.objects
      where tenant_id = p_tenant and bucket_id = p_bucket and objects.key = asked.key limit 1
      for update
    ) as held
  )
  select array_agg(key order by key), array_agg(place), array_agg(key) filter (where segments > 0), sum(size),
    array_agg(blob_id) filter (where blob_id is not null), bool_or(not storage.holds(p_condition, etag, last_modified))
  into v_found, v_places, v_in_parts, v_bytes, v_lost, v_broken from locked;
  if v_found is null then return '{}'; end if;
  if v_broken then perform storage.refuse('precondition'); end if;
  for i in 1..coalesce(cardinality(v_in_parts), 0) loop
    with gone as (
      delete from storage.segments where tenant_id = p_tenant and bucket_id = p_bucket and key = v_in_parts[i] returning blob_id
    ) select coalesce(v_lost, '{}') || coalesce(array_agg(blob_id), '{}') into v_lost from gone;
  end loop;
  delete from storage.objects where ctid = any(v_places);
  perform storage.discard(p_tenant, coalesce(v_lost, '{}'));
  perform storage.count_usage(p_tenant, p_bucket, jsonb_build_object(
    'objects', -cardinality(v_found), 'object_bytes', -v_bytes
  ), p_quota);
  if v_bucket.events and p_events is not null then
    perform storage.emit(
      p_tenant, p_events[place], 'storage.object.deleted', v_bucket.name || '/' || deleted, p_author,
      jsonb_build_object('bucket', v_bucket.name, 'key', deleted)
    ) from unnest(v_found) with ordinality as each(deleted, place) order by place;
  end if;
  return v_found;
end
$$;
