-- The functions with which a write is committed in one round trip. Each statement in them sees what others have committed by then.
-- A refusal raises the violation of a constraint with a telling name, which rolls everything back.
-- Locks are taken in one order: upload, objects by key, blob, usage of the bucket, usage of the tenant.

-- Who writes: {app, actor, request_id}.
create function storage.emit(p_tenant text, p_id text, p_type text, p_subject text, p_author jsonb, p_data jsonb)
returns void language sql as $$
  insert into storage.outbox (tenant_id, id, type, subject, app_id, actor, data, request_id)
  values (p_tenant, p_id, p_type, p_subject, p_author->>'app', p_author->>'actor', p_data, p_author->>'request_id')
$$;

create function storage.refuse(p_constraint text) returns void language plpgsql as $$
begin
  raise exception using errcode = '23514', constraint = p_constraint, message = p_constraint;
end
$$;

-- Counts what was added (or, with negative numbers, removed), unless a quota would be exceeded. Bytes of all kinds count together.
-- p_by: any of objects, object_bytes, uploads, upload_bytes, cas_entries, cas_bytes, stored_bytes.
-- p_quota: {quota_bytes, quota_objects} of tenants without quotas of their own; 0 is no limit.
create function storage.count_usage(p_tenant text, p_bucket text, p_by jsonb, p_quota jsonb)
returns void language plpgsql as $$
declare
  v_objects bigint := coalesce((p_by->>'objects')::bigint, 0);
  v_object_bytes bigint := coalesce((p_by->>'object_bytes')::bigint, 0);
  v_uploads bigint := coalesce((p_by->>'uploads')::bigint, 0);
  v_upload_bytes bigint := coalesce((p_by->>'upload_bytes')::bigint, 0);
  v_cas_entries bigint := coalesce((p_by->>'cas_entries')::bigint, 0);
  v_cas_bytes bigint := coalesce((p_by->>'cas_bytes')::bigint, 0);
  v_stored_bytes bigint := coalesce((p_by->>'stored_bytes')::bigint, 0);
  v_bytes bigint := v_object_bytes + v_upload_bytes + v_cas_bytes;
  v_most_bytes bigint;
  v_most_objects bigint;
begin
  if p_bucket is not null then
    select quota_bytes, quota_objects into v_most_bytes, v_most_objects
    from storage.buckets where tenant_id = p_tenant and id = p_bucket;
    update storage.usage set
      objects = objects + v_objects, object_bytes = object_bytes + v_object_bytes,
      uploads = uploads + v_uploads, upload_bytes = upload_bytes + v_upload_bytes
    where tenant_id = p_tenant and bucket_id = p_bucket
      and (v_bytes <= 0 or v_most_bytes = 0 or object_bytes + upload_bytes + v_bytes <= v_most_bytes)
      and (v_objects <= 0 or v_most_objects = 0 or objects + v_objects <= v_most_objects);
    if not found then perform storage.refuse('bucket_quota'); end if;
  end if;
  select quota_bytes, quota_objects into v_most_bytes, v_most_objects from storage.quotas where tenant_id = p_tenant;
  if not found then
    v_most_bytes := coalesce((p_quota->>'quota_bytes')::bigint, 0);
    v_most_objects := coalesce((p_quota->>'quota_objects')::bigint, 0);
  end if;
  for v_attempt in 1..2 loop
    update storage.usage set
      objects = objects + v_objects, object_bytes = object_bytes + v_object_bytes,
      uploads = uploads + v_uploads, upload_bytes = upload_bytes + v_upload_bytes,
      cas_entries = cas_entries + v_cas_entries, cas_bytes = cas_bytes + v_cas_bytes,
      stored_bytes = stored_bytes + v_stored_bytes
    where tenant_id = p_tenant and bucket_id = ''
      and (v_bytes <= 0 or v_most_bytes = 0 or object_bytes + upload_bytes + cas_bytes + v_bytes <= v_most_bytes)
      and (v_objects <= 0 or v_most_objects = 0 or objects + v_objects <= v_most_objects);
    exit when found;
    insert into storage.usage (tenant_id) values (p_tenant) on conflict do nothing;
    if not found then perform storage.refuse('tenant_quota'); end if;
  end loop;
end
$$;

-- Notes blobs that lost a pointer. Whether they have others is judged later, because others may lose theirs at the same time.
create function storage.discard(p_tenant text, p_blobs text[]) returns void language sql as $$
  insert into storage.garbage (tenant_id, blob_id)
  select p_tenant, id from unnest(p_blobs) as lost(id) where id is not null group by id order by id
  on conflict on constraint garbage_pkey do update set since = now()
$$;

-- Stores a blob, or finds one of the tenant with the same bytes. Returns its id, and how many bytes were newly stored.
-- The lock keeps the collector away from the found one until the pointer to it is committed.
-- p_blob: {id, size, crc32c, md5}, the last one optional; null means content without bytes.
create function storage.add_blob(
  p_tenant text, p_blob jsonb, p_sha256 bytea, p_blocks bytea, p_content bytea, out blob_id text, out stored bigint
) language plpgsql as $$
begin
  stored := 0;
  if p_blob is null then return; end if;
  if p_content is null then
    select id into blob_id from storage.blobs
    where tenant_id = p_tenant and sha256 = p_sha256 and state = 'live' and content is null
      and size = (p_blob->>'size')::bigint
    limit 1
    for key share skip locked;
    if found then
      if p_blob->>'md5' is not null then
        update storage.blobs set md5 = decode(p_blob->>'md5', 'hex') where tenant_id = p_tenant and id = blob_id and md5 is null;
      end if;
      return;
    end if;
  end if;
  blob_id := p_blob->>'id';
  stored := (p_blob->>'size')::bigint;
  insert into storage.blobs (tenant_id, id, size, sha256, crc32c, md5, blocks, content)
  values (
    p_tenant, blob_id, stored, p_sha256, (p_blob->>'crc32c')::bigint, decode(p_blob->>'md5', 'hex'), coalesce(p_blocks, ''), p_content
  );
end
$$;

-- Keeps the collector away from blobs that get a new pointer; refuses when one of them is gone already.
create function storage.hold_blobs(p_tenant text, p_blobs text[]) returns void language plpgsql as $$
declare
  v_held bigint;
begin
  with held as (
    select id from storage.blobs where tenant_id = p_tenant and id = any(p_blobs) and state <> 'deleting' order by id for key share
  ) select count(*) into v_held from held;
  if v_held < (select count(distinct id) from unnest(p_blobs) as asked(id) where id is not null) then
    perform storage.refuse('blobs_gone');
  end if;
end
$$;

-- Whether the conditions of a write hold for the object with this entity tag and time; both are null when there is none.
-- p_condition: {match, none_match, unmodified_since}; `*` stands for any tag.
create function storage.holds(p_condition jsonb, p_etag text, p_last_modified timestamptz)
returns boolean language sql stable as $$
  select case
    when p_condition is null then true
    when jsonb_typeof(p_condition->'match') = 'array'
      and not (p_etag is not null and (p_condition->'match' ? '*' or p_condition->'match' ? p_etag)) then false
    when jsonb_typeof(p_condition->'none_match') = 'array'
      and p_etag is not null and (p_condition->'none_match' ? '*' or p_condition->'none_match' ? p_etag) then false
    when p_condition->>'unmodified_since' is not null
      and date_trunc('second', p_last_modified) > (p_condition->>'unmodified_since')::timestamptz then false
    else true
  end
$$;

-- Points a key to content that is already stored, in place of what it pointed to.
-- p_object: {size, etag, checksum, content_type, cache_control, content_disposition, content_encoding, content_language, metadata}
-- p_segments: [{start, size, blob_id}] of content in parts, then p_blob is null.
-- p_by: what else changes in the usage, as in count_usage. p_event: the id of the event.
create function storage.set_object(
  p_tenant text, p_bucket text, p_key text, p_object jsonb, p_blob text, p_segments jsonb, p_condition jsonb,
  p_by jsonb, p_quota jsonb, p_author jsonb, p_event text, out bucket text, out replaced boolean, out last_modified timestamptz
) language plpgsql as $$
declare
  v_bucket storage.buckets;
  v_old storage.objects;
  v_lost text[];
  v_size bigint := (p_object->>'size')::bigint;
begin
  select * into v_bucket from storage.buckets
  where tenant_id = p_tenant and id = p_bucket and name is not null for key share;
  if not found then perform storage.refuse('bucket_gone'); end if;
  bucket := v_bucket.name;
  last_modified := now()::timestamptz(3);
  loop
    select * into v_old from storage.objects where tenant_id = p_tenant and bucket_id = p_bucket and key = p_key for update;
    replaced := found;
    if not storage.holds(p_condition, v_old.etag, v_old.last_modified) then perform storage.refuse('precondition'); end if;
    if replaced then
      if v_old.segments > 0 then
        with gone as (
          delete from storage.segments where tenant_id = p_tenant and bucket_id = p_bucket and key = p_key returning blob_id
        ) select array_agg(blob_id) into v_lost from gone;
      else
        v_lost := array[v_old.blob_id];
      end if;
      update storage.objects set
        blob_id = p_blob, segments = coalesce(jsonb_array_length(p_segments), 0), size = v_size,
        etag = p_object->>'etag', checksum = p_object->>'checksum', content_type = p_object->>'content_type',
        cache_control = p_object->>'cache_control', content_disposition = p_object->>'content_disposition',
        content_encoding = p_object->>'content_encoding', content_language = p_object->>'content_language',
        metadata = p_object->'metadata', last_modified = set_object.last_modified
      where tenant_id = p_tenant and bucket_id = p_bucket and key = p_key;
      exit;
    end if;
    insert into storage.objects (
      tenant_id, bucket_id, key, blob_id, segments, size, etag, checksum, content_type, cache_control, content_disposition,
      content_encoding, content_language, metadata, last_modified
    ) values (
      p_tenant, p_bucket, p_key, p_blob, coalesce(jsonb_array_length(p_segments), 0), v_size, p_object->>'etag',
      p_object->>'checksum', p_object->>'content_type', p_object->>'cache_control', p_object->>'content_disposition',
      p_object->>'content_encoding', p_object->>'content_language', p_object->'metadata', last_modified
    ) on conflict on constraint objects_pkey do nothing;
    -- Another write created it meanwhile: that one is judged.
    exit when found;
  end loop;
  insert into storage.segments (tenant_id, bucket_id, key, start, size, blob_id)
  select p_tenant, p_bucket, p_key, one.start, one.size, one.blob_id
  from jsonb_to_recordset(coalesce(p_segments, '[]')) as one(start bigint, size bigint, blob_id text);
  perform storage.discard(p_tenant, array_remove(v_lost, p_blob));
  perform storage.count_usage(p_tenant, p_bucket, coalesce(p_by, '{}') || jsonb_build_object(
    'objects', case when replaced then 0 else 1 end,
    'object_bytes', v_size - coalesce(v_old.size, 0)
  ), p_quota);
  if v_bucket.events then
    perform storage.emit(p_tenant, p_event, 'storage.object.created', bucket || '/' || p_key, p_author, jsonb_build_object(
      'bucket', bucket, 'key', p_key, 'size', v_size, 'etag', p_object->>'etag', 'content_type', p_object->>'content_type',
      'replaced', replaced, 'multipart', p_segments is not null
    ));
  end if;
end
$$;

-- Stores the bytes of one request as an object. Returns which blob holds them: another one when they were stored before.
create function storage.put_object(
  p_tenant text, p_bucket text, p_key text, p_object jsonb, p_blob jsonb, p_sha256 bytea, p_blocks bytea, p_content bytea,
  p_condition jsonb, p_quota jsonb, p_author jsonb, p_event text,
  out bucket text, out replaced boolean, out last_modified timestamptz, out blob_id text
) language plpgsql as $$
declare
  v_added record;
  v_set record;
begin
  select * into v_added from storage.add_blob(p_tenant, p_blob, p_sha256, p_blocks, p_content);
  select * into v_set from storage.set_object(
    p_tenant, p_bucket, p_key, p_object, v_added.blob_id, null, p_condition,
    jsonb_build_object('stored_bytes', v_added.stored), p_quota, p_author, p_event
  );
  bucket := v_set.bucket; replaced := v_set.replaced; last_modified := v_set.last_modified; blob_id := v_added.blob_id;
end
$$;

-- Points a key to content that another pointer has.
create function storage.copy_object(
  p_tenant text, p_bucket text, p_key text, p_object jsonb, p_blob text, p_segments jsonb, p_condition jsonb,
  p_quota jsonb, p_author jsonb, p_event text, out bucket text, out replaced boolean, out last_modified timestamptz
) language plpgsql as $$
declare
  v_set record;
begin
  perform storage.hold_blobs(p_tenant, array(
    select p_blob union all select one.blob_id from jsonb_to_recordset(coalesce(p_segments, '[]')) as one(blob_id text)
  ));
  select * into v_set from storage.set_object(
    p_tenant, p_bucket, p_key, p_object, p_blob, p_segments, p_condition, '{}', p_quota, p_author, p_event
  );
  bucket := v_set.bucket; replaced := v_set.replaced; last_modified := v_set.last_modified;
end
$$;

-- Changes the fields of an object that p_changes names. Returns no row when there is none.
create function storage.update_object(
  p_tenant text, p_bucket text, p_key text, p_changes jsonb, p_condition jsonb, p_author jsonb, p_event text
) returns setof storage.objects language plpgsql as $$
declare
  v_bucket storage.buckets;
  v_object storage.objects;
begin
  select * into v_bucket from storage.buckets
  where tenant_id = p_tenant and id = p_bucket and name is not null for key share;
  if not found then perform storage.refuse('bucket_gone'); end if;
  select * into v_object from storage.objects where tenant_id = p_tenant and bucket_id = p_bucket and key = p_key for update;
  if not found then return; end if;
  if not storage.holds(p_condition, v_object.etag, v_object.last_modified) then perform storage.refuse('precondition'); end if;
  v_object := jsonb_populate_record(v_object, p_changes);
  update storage.objects set
    content_type = v_object.content_type, cache_control = v_object.cache_control,
    content_disposition = v_object.content_disposition, content_encoding = v_object.content_encoding,
    content_language = v_object.content_language, metadata = v_object.metadata, last_modified = now()
  where tenant_id = p_tenant and bucket_id = p_bucket and key = p_key
  returning * into v_object;
  if v_bucket.events then
    perform storage.emit(p_tenant, p_event, 'storage.object.updated', v_bucket.name || '/' || p_key, p_author, jsonb_build_object(
      'bucket', v_bucket.name, 'key', p_key, 'etag', v_object.etag, 'content_type', v_object.content_type
    ));
  end if;
  return next v_object;
end
$$;

-- Deletes the objects under these keys, which have to be in order; returns those that were there. Without event ids nothing is told.
create function storage.delete_objects(
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

-- Deletes uploads of a bucket that is being emptied, about as many as have p_limit parts together; returns how many.
create function storage.drop_uploads(p_tenant text, p_bucket text, p_limit integer) returns integer language plpgsql as $$
declare
  v_ids text[];
  v_lost text[];
  v_open integer;
  v_bytes bigint;
begin
  with locked as (
    select id, state, parts, bytes from storage.uploads
    where tenant_id = p_tenant and bucket_id = p_bucket order by id limit p_limit for update
  ), placed as (
    select id, state, bytes, sum(1 + parts) over (order by id) - parts as place from locked
  )
  select array_agg(id), count(*) filter (where state = 'open'), coalesce(sum(bytes) filter (where state = 'open'), 0)
  into v_ids, v_open, v_bytes from placed where place <= p_limit;
  if v_ids is null then return 0; end if;
  with gone as (
    delete from storage.parts where tenant_id = p_tenant and upload_id = any(v_ids) returning blob_id
  ) select array_agg(blob_id) filter (where blob_id is not null) into v_lost from gone;
  delete from storage.uploads where tenant_id = p_tenant and id = any(v_ids);
  perform storage.discard(p_tenant, v_lost);
  perform storage.count_usage(
    p_tenant, p_bucket, jsonb_build_object('uploads', -v_open, 'upload_bytes', -v_bytes), '{}'
  );
  return cardinality(v_ids);
end
$$;
