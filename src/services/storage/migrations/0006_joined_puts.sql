-- Puts of one bucket share a commit: each of them has to wait for the row that counts the bucket's usage until the one before is on
-- the disk, so that alone they would be as slow as the disk, however many there are.

-- Points a key to content that is already stored, in place of what it pointed to. Garbage and usage are left to the caller, who may do
-- this for several keys, in their order, before the row of the usage is locked. Returns the blobs that lost a pointer.
-- p_object: {size, etag, checksum, content_type, cache_control, content_disposition, content_encoding, content_language, metadata}
-- p_segments: [{start, size, blob_id}] of content in parts, then p_blob is null.
-- p_event: the id of the event.
create function storage.place_object(
  p_tenant text, p_bucket text, p_key text, p_object jsonb, p_blob text, p_segments jsonb, p_condition jsonb,
  p_author jsonb, p_event text,
  out bucket text, out replaced boolean, out last_modified timestamptz, out lost text[], out grown bigint
) language plpgsql as $$
declare
  v_bucket storage.buckets;
  v_old storage.objects;
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
        ) select array_agg(blob_id) into lost from gone;
      else
        lost := array[v_old.blob_id];
      end if;
      update storage.objects set
        blob_id = p_blob, segments = coalesce(jsonb_array_length(p_segments), 0), size = v_size,
        etag = p_object->>'etag', checksum = p_object->>'checksum', content_type = p_object->>'content_type',
        cache_control = p_object->>'cache_control', content_disposition = p_object->>'content_disposition',
        content_encoding = p_object->>'content_encoding', content_language = p_object->>'content_language',
        metadata = p_object->'metadata', last_modified = place_object.last_modified
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
  if jsonb_array_length(p_segments) > 0 then
    insert into storage.segments (tenant_id, bucket_id, key, start, size, blob_id)
    select p_tenant, p_bucket, p_key, one.start, one.size, one.blob_id
    from jsonb_to_recordset(p_segments) as one(start bigint, size bigint, blob_id text);
  end if;
  lost := array_remove(lost, p_blob);
  grown := v_size - coalesce(v_old.size, 0);
  if v_bucket.events then
    perform storage.emit(p_tenant, p_event, 'storage.object.created', bucket || '/' || p_key, p_author, jsonb_build_object(
      'bucket', bucket, 'key', p_key, 'size', v_size, 'etag', p_object->>'etag', 'content_type', p_object->>'content_type',
      'replaced', replaced, 'multipart', p_segments is not null
    ));
  end if;
end
$$;

-- The same for one key, with garbage and usage.
-- p_by: what else changes in the usage, as in count_usage.
create or replace function storage.set_object(
  p_tenant text, p_bucket text, p_key text, p_object jsonb, p_blob text, p_segments jsonb, p_condition jsonb,
  p_by jsonb, p_quota jsonb, p_author jsonb, p_event text, out bucket text, out replaced boolean, out last_modified timestamptz
) language plpgsql as $$
declare
  v_set record;
begin
  select * into v_set from storage.place_object(
    p_tenant, p_bucket, p_key, p_object, p_blob, p_segments, p_condition, p_author, p_event
  );
  bucket := v_set.bucket; replaced := v_set.replaced; last_modified := v_set.last_modified;
  perform storage.discard(p_tenant, v_set.lost);
  perform storage.count_usage(p_tenant, p_bucket, coalesce(p_by, '{}') || jsonb_build_object(
    'objects', case when replaced then 0 else 1 end, 'object_bytes', v_set.grown
  ), p_quota);
end
$$;

-- Stores the bytes of several requests as objects of a bucket. What one of them is refused for does not concern the others; only a
-- quota that all of them together exceed refuses all. Returns for each place in p_puts which blob holds the bytes, another one when they
-- were stored before, or under which name it was refused.
-- p_puts: [{key, object, condition, author, event, sha256, blob, blocks, content}], as in place_object and add_blob, with the SHA-256 in
-- hexadecimal digits and other bytes in Base64.
create function storage.put_objects(p_tenant text, p_bucket text, p_puts jsonb, p_quota jsonb)
returns table (place bigint, bucket text, replaced boolean, last_modified timestamptz, blob_id text, refused text)
language plpgsql as $$
declare
  v_put jsonb;
  v_added record;
  v_set record;
  v_lost text[] := '{}';
  v_objects bigint := 0;
  v_object_bytes bigint := 0;
  v_stored_bytes bigint := 0;
begin
  -- Every transaction locks objects in this order.
  for place, v_put in
    select given.place, given.put from jsonb_array_elements(p_puts) with ordinality as given(put, place)
    order by given.put->>'key' collate "C", given.place
  loop
    begin
      refused := null;
      select * into v_added from storage.add_blob(
        p_tenant, nullif(v_put->'blob', 'null'), decode(v_put->>'sha256', 'hex'), decode(v_put->>'blocks', 'base64'),
        decode(v_put->>'content', 'base64')
      );
      select * into v_set from storage.place_object(
        p_tenant, p_bucket, v_put->>'key', v_put->'object', v_added.blob_id, null, nullif(v_put->'condition', 'null'),
        v_put->'author', v_put->>'event'
      );
      bucket := v_set.bucket; replaced := v_set.replaced; last_modified := v_set.last_modified; blob_id := v_added.blob_id;
      v_lost := v_lost || v_set.lost;
      v_objects := v_objects + case when replaced then 0 else 1 end;
      v_object_bytes := v_object_bytes + v_set.grown;
      v_stored_bytes := v_stored_bytes + v_added.stored;
    exception when check_violation then
      get stacked diagnostics refused = constraint_name;
    end;
    return next;
  end loop;
  perform storage.discard(p_tenant, v_lost);
  perform storage.count_usage(p_tenant, p_bucket, jsonb_build_object(
    'objects', v_objects, 'object_bytes', v_object_bytes, 'stored_bytes', v_stored_bytes
  ), p_quota);
end
$$;

drop function storage.put_object(text, text, text, jsonb, jsonb, bytea, bytea, bytea, jsonb, jsonb, jsonb, text);
