-- An upload of ten thousand parts is completed within half a second.

-- Each row of a segment was checked against the one object that it belongs to. Whoever writes segments holds the lock of that object, and
-- whoever deletes or replaces an object deletes its segments.
alter table storage.segments drop constraint segments_object;

-- Makes the parts of a locked upload its object, but for those that are dropped. The usage, for which others wait, is locked last.
-- p_object: {size, etag, checksum}; the rest is that of the upload. p_events: the ids of two events.
create or replace function storage.complete_upload(
  p_tenant text, p_bucket text, p_upload text, p_dropped integer[], p_object jsonb, p_condition jsonb, p_completion bytea,
  p_quota jsonb, p_author jsonb, p_events text[]
) returns timestamptz language plpgsql as $$
declare
  v_upload storage.uploads;
  v_bucket storage.buckets;
  v_lost text[];
  v_set record;
  v_segments integer;
begin
  v_upload := storage.lock_upload(p_tenant, p_bucket, p_upload);
  with gone as (
    delete from storage.parts
    where tenant_id = p_tenant and upload_id = p_upload and part_number = any(p_dropped) returning blob_id
  ) select array_agg(blob_id) into v_lost from gone;
  select * into v_set from storage.place_object(
    p_tenant, p_bucket, v_upload.key, to_jsonb(v_upload) || p_object, null, '[]', p_condition, p_author, p_events[1]
  );
  insert into storage.segments (tenant_id, bucket_id, key, start, size, blob_id)
  select p_tenant, p_bucket, v_upload.key, start, size, blob_id
  from (
    select size, blob_id, (sum(size) over (order by part_number))::bigint - size as start from storage.parts
    where tenant_id = p_tenant and upload_id = p_upload
  ) as kept
  where size > 0;
  get diagnostics v_segments = row_count;
  update storage.objects set segments = v_segments
  where tenant_id = p_tenant and bucket_id = p_bucket and key = v_upload.key;
  delete from storage.parts where tenant_id = p_tenant and upload_id = p_upload;
  update storage.uploads set
    state = 'completed', completion = p_completion, result = p_object, completed_at = v_set.last_modified,
    ended_at = v_set.last_modified, updated_at = v_set.last_modified
  where tenant_id = p_tenant and id = p_upload;
  select * into v_bucket from storage.buckets where tenant_id = p_tenant and id = p_bucket;
  if v_bucket.events then
    perform storage.emit(
      p_tenant, p_events[2], 'storage.upload.completed', v_bucket.name || '/' || v_upload.key, p_author,
      storage.upload_event(v_bucket, v_upload) || p_object
    );
  end if;
  perform storage.discard(p_tenant, v_lost || v_set.lost);
  perform storage.count_usage(p_tenant, p_bucket, jsonb_build_object(
    'uploads', -1, 'upload_bytes', -v_upload.bytes,
    'objects', case when v_set.replaced then 0 else 1 end, 'object_bytes', v_set.grown
  ), p_quota);
  return v_set.last_modified;
end
$$;
