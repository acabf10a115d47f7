-- Requests that found a bucket just before it was deleted by force, and uploads that expire while it is emptied: the bucket has no name
-- any more, and the events of its objects and uploads would have no subject.

-- Refuses when the bucket has been deleted. It is not locked: what comes before the deletion is removed with the rest.
create function storage.check_bucket(p_tenant text, p_bucket text) returns void language plpgsql as $$
begin
  if not exists (select from storage.buckets where tenant_id = p_tenant and id = p_bucket and name is not null) then
    perform storage.refuse('bucket_gone');
  end if;
end
$$;

-- Locks an upload that is still open, and refuses any other.
create or replace function storage.lock_upload(p_tenant text, p_bucket text, p_upload text) returns storage.uploads language plpgsql as $$
declare
  v_upload storage.uploads;
begin
  select * into v_upload from storage.uploads
  where tenant_id = p_tenant and id = p_upload and bucket_id = p_bucket for no key update;
  if not found then perform storage.refuse('upload_gone'); end if;
  perform storage.check_bucket(p_tenant, p_bucket);
  if v_upload.state <> 'open' then perform storage.refuse('upload_' || v_upload.state); end if;
  if v_upload.expires_at <= clock_timestamp() then perform storage.refuse('upload_expired'); end if;
  return v_upload;
end
$$;

-- Ends open uploads of one bucket, which are locked, as aborted or expired, and gives their room back.
create or replace function storage.end_uploads(
  p_tenant text, p_bucket text, p_uploads text[], p_state text, p_quota jsonb, p_author jsonb, p_events text[]
) returns void language plpgsql as $$
declare
  v_bucket storage.buckets;
  v_lost text[];
  v_bytes bigint;
  v_count integer;
begin
  with gone as (
    delete from storage.parts where tenant_id = p_tenant and upload_id = any(p_uploads) returning blob_id
  ) select array_agg(blob_id) into v_lost from gone;
  perform storage.discard(p_tenant, v_lost);
  select sum(bytes), count(*) into v_bytes, v_count from storage.uploads where tenant_id = p_tenant and id = any(p_uploads);
  update storage.uploads set
    state = p_state, parts = 0, bytes = 0, updated_at = now(),
    ended_at = case when p_state = 'expired' then expires_at else now() end
  where tenant_id = p_tenant and id = any(p_uploads);
  perform storage.count_usage(
    p_tenant, p_bucket, jsonb_build_object('uploads', -v_count, 'upload_bytes', -v_bytes), p_quota
  );
  select * into v_bucket from storage.buckets where tenant_id = p_tenant and id = p_bucket;
  -- Nobody hears of uploads in a bucket that is being emptied: the event of the bucket says it all.
  if v_bucket.events and v_bucket.name is not null then
    perform storage.emit(
      p_tenant, p_events[place], 'storage.upload.' || p_state, v_bucket.name || '/' || uploads.key,
      jsonb_build_object('app', v_bucket.app_id, 'actor', 'system') || p_author, storage.upload_event(v_bucket, uploads)
    )
    from unnest(p_uploads) with ordinality as ended(id, place) join storage.uploads on uploads.id = ended.id
    where uploads.tenant_id = p_tenant
    order by place;
  end if;
end
$$;

-- Aborting an upload that has already ended without an object changes nothing.
create or replace function storage.abort_upload(
  p_tenant text, p_bucket text, p_upload text, p_quota jsonb, p_author jsonb, p_event text
) returns void language plpgsql as $$
declare
  v_upload storage.uploads;
begin
  select * into v_upload from storage.uploads
  where tenant_id = p_tenant and id = p_upload and bucket_id = p_bucket for no key update;
  if not found then perform storage.refuse('upload_gone'); end if;
  perform storage.check_bucket(p_tenant, p_bucket);
  if v_upload.state = 'completed' then perform storage.refuse('upload_completed'); end if;
  if v_upload.state <> 'open' or v_upload.expires_at <= clock_timestamp() then return; end if;
  perform storage.end_uploads(p_tenant, p_bucket, array[p_upload], 'aborted', p_quota, p_author, array[p_event]);
end
$$;

-- Deletes the objects under these keys, which have to be in order; returns those that were there. Without event ids nothing is told.
create or replace function storage.delete_objects(
  p_tenant text, p_bucket text, p_keys text[], p_condition jsonb, p_quota jsonb, p_author jsonb, p_events text[]
) returns text[] language plpgsql as $$
declare
  v_bucket storage.buckets;
  v_found text[];
  v_lost text[];
  v_bytes bigint;
  v_broken boolean;
begin
  select * into v_bucket from storage.buckets where tenant_id = p_tenant and id = p_bucket for key share;
  if not found then return '{}'; end if;
  if v_bucket.name is null and p_events is not null then perform storage.refuse('bucket_gone'); end if;
  with locked as (
    select key, size, etag, last_modified, blob_id from storage.objects
    where tenant_id = p_tenant and bucket_id = p_bucket and key = any(p_keys)
    order by key
    for update
  )
  select array_agg(key order by key), sum(size), array_agg(blob_id) filter (where blob_id is not null),
    bool_or(not storage.holds(p_condition, etag, last_modified))
  into v_found, v_bytes, v_lost, v_broken from locked;
  if v_found is null then return '{}'; end if;
  if v_broken then perform storage.refuse('precondition'); end if;
  with gone as (
    delete from storage.segments where tenant_id = p_tenant and bucket_id = p_bucket and key = any(v_found) returning blob_id
  ) select coalesce(v_lost, '{}') || coalesce(array_agg(blob_id), '{}') into v_lost from gone;
  delete from storage.objects where tenant_id = p_tenant and bucket_id = p_bucket and key = any(v_found);
  perform storage.discard(p_tenant, v_lost);
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
