-- Uploads: parts arrive in any order, and one transaction makes them an object. The row of the upload is locked first by everything
-- that changes it, so that a part is either in the object or refused.

-- Locks an upload that is still open, and refuses any other.
create function storage.lock_upload(p_tenant text, p_bucket text, p_upload text) returns storage.uploads language plpgsql as $$
declare
  v_upload storage.uploads;
begin
  select * into v_upload from storage.uploads
  where tenant_id = p_tenant and id = p_upload and bucket_id = p_bucket for no key update;
  if not found then perform storage.refuse('upload_gone'); end if;
  if v_upload.state <> 'open' then perform storage.refuse('upload_' || v_upload.state); end if;
  if v_upload.expires_at <= clock_timestamp() then perform storage.refuse('upload_expired'); end if;
  return v_upload;
end
$$;

-- What an event says about an upload.
create function storage.upload_event(p_bucket storage.buckets, p_upload storage.uploads) returns jsonb language sql stable as $$
  select jsonb_build_object('id', p_upload.id, 'bucket', p_bucket.name, 'key', p_upload.key)
$$;

-- p_upload: {id, key, content_type, cache_control, content_disposition, content_encoding, content_language, metadata}
create function storage.create_upload(
  p_tenant text, p_bucket text, p_upload jsonb, p_lifetime interval, p_quota jsonb, p_author jsonb, p_event text
) returns void language plpgsql as $$
declare
  v_bucket storage.buckets;
  v_upload storage.uploads;
begin
  select * into v_bucket from storage.buckets
  where tenant_id = p_tenant and id = p_bucket and name is not null for key share;
  if not found then perform storage.refuse('bucket_gone'); end if;
  insert into storage.uploads (
    tenant_id, id, bucket_id, key, content_type, cache_control, content_disposition, content_encoding, content_language, metadata,
    expires_at
  ) values (
    p_tenant, p_upload->>'id', p_bucket, p_upload->>'key', p_upload->>'content_type', p_upload->>'cache_control',
    p_upload->>'content_disposition', p_upload->>'content_encoding', p_upload->>'content_language', p_upload->'metadata',
    now() + p_lifetime
  ) returning * into v_upload;
  perform storage.count_usage(p_tenant, p_bucket, '{"uploads": 1}', p_quota);
  if v_bucket.events then
    perform storage.emit(
      p_tenant, p_event, 'storage.upload.created', v_bucket.name || '/' || v_upload.key, p_author,
      storage.upload_event(v_bucket, v_upload)
    );
  end if;
end
$$;

-- Puts a stored blob in the place of a part of a locked upload.
create function storage.set_part(
  p_upload storage.uploads, p_number integer, p_blob text, p_size bigint, p_sha256 bytea, p_crc32c bigint, p_stored bigint,
  p_quota jsonb
) returns timestamptz language plpgsql as $$
declare
  v_old storage.parts;
  v_time timestamptz;
begin
  select * into v_old from storage.parts
  where tenant_id = p_upload.tenant_id and upload_id = p_upload.id and part_number = p_number;
  insert into storage.parts (tenant_id, upload_id, part_number, blob_id, size, sha256, crc32c)
  values (p_upload.tenant_id, p_upload.id, p_number, p_blob, p_size, p_sha256, p_crc32c)
  on conflict on constraint parts_pkey do update set
    blob_id = excluded.blob_id, size = excluded.size, sha256 = excluded.sha256, crc32c = excluded.crc32c, uploaded_at = now()
  returning uploaded_at into v_time;
  update storage.uploads set
    parts = parts + case when v_old.part_number is null then 1 else 0 end,
    bytes = bytes + p_size - coalesce(v_old.size, 0),
    updated_at = now()
  where tenant_id = p_upload.tenant_id and id = p_upload.id;
  perform storage.discard(p_upload.tenant_id, array_remove(array[v_old.blob_id], p_blob));
  perform storage.count_usage(p_upload.tenant_id, p_upload.bucket_id, jsonb_build_object(
    'upload_bytes', p_size - coalesce(v_old.size, 0), 'stored_bytes', p_stored
  ), p_quota);
  return v_time;
end
$$;

-- Stores the bytes of one request as a part. Returns which blob holds them: another one when they were stored before.
create function storage.put_part(
  p_tenant text, p_bucket text, p_upload text, p_number integer, p_size bigint, p_crc32c bigint, p_blob jsonb, p_sha256 bytea,
  p_blocks bytea, p_content bytea, p_quota jsonb, out blob_id text, out uploaded_at timestamptz
) language plpgsql as $$
declare
  v_upload storage.uploads;
  v_added record;
begin
  v_upload := storage.lock_upload(p_tenant, p_bucket, p_upload);
  select * into v_added from storage.add_blob(p_tenant, p_blob, p_sha256, p_blocks, p_content);
  blob_id := v_added.blob_id;
  uploaded_at := storage.set_part(v_upload, p_number, blob_id, p_size, p_sha256, p_crc32c, v_added.stored, p_quota);
end
$$;

-- Makes a whole blob of the tenant a part, without moving bytes.
create function storage.point_part(
  p_tenant text, p_bucket text, p_upload text, p_number integer, p_blob text, p_quota jsonb,
  out size bigint, out sha256 bytea, out uploaded_at timestamptz
) language plpgsql as $$
declare
  v_upload storage.uploads;
  v_blob storage.blobs;
begin
  v_upload := storage.lock_upload(p_tenant, p_bucket, p_upload);
  perform storage.hold_blobs(p_tenant, array[p_blob]);
  select * into v_blob from storage.blobs where tenant_id = p_tenant and id = p_blob;
  size := v_blob.size;
  sha256 := v_blob.sha256;
  uploaded_at := storage.set_part(v_upload, p_number, p_blob, v_blob.size, v_blob.sha256, v_blob.crc32c, 0, p_quota);
end
$$;

-- Makes the parts of a locked upload its object, but for those that are dropped.
-- p_object: {size, etag, checksum}; the rest is that of the upload. p_events: the ids of two events.
create function storage.complete_upload(
  p_tenant text, p_bucket text, p_upload text, p_dropped integer[], p_object jsonb, p_condition jsonb, p_completion bytea,
  p_quota jsonb, p_author jsonb, p_events text[]
) returns timestamptz language plpgsql as $$
declare
  v_upload storage.uploads;
  v_bucket storage.buckets;
  v_segments jsonb;
  v_lost text[];
  v_set record;
begin
  v_upload := storage.lock_upload(p_tenant, p_bucket, p_upload);
  with gone as (
    delete from storage.parts
    where tenant_id = p_tenant and upload_id = p_upload and part_number = any(p_dropped) returning blob_id
  ) select array_agg(blob_id) into v_lost from gone;
  perform storage.discard(p_tenant, v_lost);
  select coalesce(jsonb_agg(jsonb_build_object('start', start, 'size', size, 'blob_id', blob_id)) filter (where size > 0), '[]')
  into v_segments
  from (
    select size, blob_id, (sum(size) over (order by part_number))::bigint - size as start from storage.parts
    where tenant_id = p_tenant and upload_id = p_upload
  ) as kept;
  select * into v_set from storage.set_object(
    p_tenant, p_bucket, v_upload.key, to_jsonb(v_upload) || p_object, null, v_segments, p_condition,
    jsonb_build_object('uploads', -1, 'upload_bytes', -v_upload.bytes), p_quota, p_author, p_events[1]
  );
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
  return v_set.last_modified;
end
$$;

-- Ends open uploads of one bucket, which are locked, as aborted or expired, and gives their room back.
create function storage.end_uploads(
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
  if v_bucket.events then
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
create function storage.abort_upload(
  p_tenant text, p_bucket text, p_upload text, p_quota jsonb, p_author jsonb, p_event text
) returns void language plpgsql as $$
declare
  v_upload storage.uploads;
begin
  select * into v_upload from storage.uploads
  where tenant_id = p_tenant and id = p_upload and bucket_id = p_bucket for no key update;
  if not found then perform storage.refuse('upload_gone'); end if;
  if v_upload.state = 'completed' then perform storage.refuse('upload_completed'); end if;
  if v_upload.state <> 'open' or v_upload.expires_at <= clock_timestamp() then return; end if;
  perform storage.end_uploads(p_tenant, p_bucket, array[p_upload], 'aborted', p_quota, p_author, array[p_event]);
end
$$;

-- Ends expired uploads of one bucket, as many as have p_parts parts together, and returns how many. All of them are of one bucket so
-- that the usage is locked in the usual order.
create function storage.expire_uploads(p_parts integer, p_quota jsonb, p_events text[]) returns integer language plpgsql as $$
declare
  v_first storage.uploads;
  v_ids text[];
begin
  select * into v_first from storage.uploads where state = 'open' and expires_at <= now()
  order by expires_at limit 1 for no key update skip locked;
  if not found then return 0; end if;
  with due as (
    select id, parts from storage.uploads
    where tenant_id = v_first.tenant_id and bucket_id = v_first.bucket_id and state = 'open' and expires_at <= now()
    order by id limit cardinality(p_events) for no key update skip locked
  ), sized as (
    select id, sum(parts) over (order by id <> v_first.id, id) - parts as parts_before from due
  )
  select array_agg(id order by id) into v_ids from sized where parts_before < p_parts;
  perform storage.end_uploads(v_first.tenant_id, v_first.bucket_id, v_ids, 'expired', p_quota, '{}', p_events);
  return cardinality(v_ids);
end
$$;
