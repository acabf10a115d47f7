-- Puts that share a commit take a few statements together instead of several each.

alter function storage.put_objects(text, text, jsonb, jsonb) rename to put_objects_singly;

-- As put_objects, for puts of different keys without conditions. It refuses all of them as `not_at_once` when one of the keys has content
-- in parts, and when another write creates one of them meanwhile.
create function storage.put_objects_at_once(p_tenant text, p_bucket text, p_puts jsonb, p_quota jsonb)
returns table (place bigint, bucket text, replaced boolean, last_modified timestamptz, blob_id text, refused text)
language plpgsql as $$
declare
  v_bucket storage.buckets;
  v_now timestamptz(3) := now();
  v_keys text[];
  v_blobs text[];
  v_bytes bigint;
  v_stored bigint;
  v_file record;
  -- The objects that were there, and their blobs.
  v_old_keys text[];
  v_old_blobs text[];
  v_old_bytes bigint;
  v_in_parts boolean;
  v_placed bigint;
begin
  select * into v_bucket from storage.buckets
  where tenant_id = p_tenant and id = p_bucket and name is not null for key share;
  if not found then perform storage.refuse('bucket_gone'); end if;
  select array_agg(put.key order by nr), array_agg(put.blob->>'id' order by nr), sum((put.object->>'size')::bigint)
  into v_keys, v_blobs, v_bytes
  from rows from (jsonb_to_recordset(p_puts) as (key text, object jsonb, blob jsonb)) with ordinality as put(key, object, blob, nr);

  -- Each key is sought by itself, because a statement that is planned for a new bucket would read all of a large one.
  with locked as (
    select held.* from (select each.key from unnest(v_keys) as each(key) order by each.key collate "C") as asked
    cross join lateral (
      select objects.key, objects.blob_id, objects.size, objects.segments from storage.objects
      where tenant_id = p_tenant and bucket_id = p_bucket and objects.key = asked.key limit 1
      for update
    ) as held
  )
  select coalesce(array_agg(locked.key), '{}'), coalesce(array_agg(locked.blob_id), '{}'), coalesce(sum(locked.size), 0),
    coalesce(bool_or(locked.segments > 0), false)
  into v_old_keys, v_old_blobs, v_old_bytes, v_in_parts from locked;
  if v_in_parts then perform storage.refuse('not_at_once'); end if;

  -- Content that is kept here is never shared, files may be stored already.
  with added as (
    insert into storage.blobs (tenant_id, id, size, sha256, crc32c, md5, content)
    select p_tenant, put.blob->>'id', (put.blob->>'size')::bigint, decode(put.sha256, 'hex'), (put.blob->>'crc32c')::bigint,
      decode(put.blob->>'md5', 'hex'), decode(put.content, 'base64')
    from jsonb_to_recordset(p_puts) as put(blob jsonb, sha256 text, content text)
    where put.content is not null
    returning size
  ) select coalesce(sum(size), 0) into v_stored from added;
  for v_file in
    select put.nr, added.blob_id as id, added.stored
    from (
      select * from rows from (
        jsonb_to_recordset(p_puts) as (blob jsonb, sha256 text, blocks text, content text)
      ) with ordinality as each(blob, sha256, blocks, content, nr)
      where each.blob is not null and each.content is null
      -- Whoever sets checksums of blobs does so in this order.
      order by each.sha256
    ) as put
    cross join lateral storage.add_blob(p_tenant, put.blob, decode(put.sha256, 'hex'), decode(put.blocks, 'base64'), null) as added
  loop
    v_blobs[v_file.nr] := v_file.id;
    v_stored := v_stored + v_file.stored;
  end loop;

  insert into storage.objects (
    tenant_id, bucket_id, key, blob_id, size, etag, checksum, content_type, cache_control, content_disposition,
    content_encoding, content_language, metadata, last_modified
  )
  select p_tenant, p_bucket, put.key, v_blobs[put.nr], (put.object->>'size')::bigint, put.object->>'etag', put.object->>'checksum',
    put.object->>'content_type', put.object->>'cache_control', put.object->>'content_disposition', put.object->>'content_encoding',
    put.object->>'content_language', put.object->'metadata', v_now
  from rows from (jsonb_to_recordset(p_puts) as (key text, object jsonb)) with ordinality as put(key, object, nr)
  order by put.key collate "C"
  on conflict on constraint objects_pkey do update set
    blob_id = excluded.blob_id, size = excluded.size, etag = excluded.etag, checksum = excluded.checksum,
    content_type = excluded.content_type, cache_control = excluded.cache_control,
    content_disposition = excluded.content_disposition, content_encoding = excluded.content_encoding,
    content_language = excluded.content_language, metadata = excluded.metadata, last_modified = excluded.last_modified
  where objects.key = any(v_old_keys);
  get diagnostics v_placed = row_count;
  if v_placed < cardinality(v_keys) then perform storage.refuse('not_at_once'); end if;

  if v_bucket.events then
    insert into storage.outbox (tenant_id, id, type, subject, app_id, actor, data, request_id)
    select p_tenant, put.event, 'storage.object.created', v_bucket.name || '/' || put.key, put.author->>'app', put.author->>'actor',
      jsonb_build_object(
        'bucket', v_bucket.name, 'key', put.key, 'size', put.object->'size', 'etag', put.object->'etag',
        'content_type', put.object->'content_type', 'replaced', put.key = any(v_old_keys), 'multipart', false
      ),
      put.author->>'request_id'
    from jsonb_to_recordset(p_puts) as put(key text, object jsonb, author jsonb, event text);
  end if;
  if cardinality(v_old_keys) > 0 then
    perform storage.discard(p_tenant, array(
      select old.id from unnest(v_old_keys, v_old_blobs) as old(key, id) join unnest(v_keys, v_blobs) as new(key, id) using (key)
      where old.id is distinct from new.id
    ));
  end if;
  perform storage.count_usage(p_tenant, p_bucket, jsonb_build_object(
    'objects', cardinality(v_keys) - cardinality(v_old_keys), 'object_bytes', v_bytes - v_old_bytes, 'stored_bytes', v_stored
  ), p_quota);
  return query
    select new.nr, v_bucket.name, new.key = any(v_old_keys), v_now::timestamptz, new.id, null::text
    from unnest(v_keys, v_blobs) with ordinality as new(key, id, nr);
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
  v_refusal text;
begin
  if (
    select count(put.condition) = 0 and count(distinct put.key) = count(*) from jsonb_to_recordset(p_puts) as put(key text, condition jsonb)
  ) then
    begin
      return query select * from storage.put_objects_at_once(p_tenant, p_bucket, p_puts, p_quota);
      return;
    exception when check_violation then
      get stacked diagnostics v_refusal = constraint_name;
      if v_refusal in ('bucket_quota', 'tenant_quota') then raise; end if;
    end;
  end if;
  return query select * from storage.put_objects_singly(p_tenant, p_bucket, p_puts, p_quota);
end
$$;

-- Content of a few KiB fits into the row itself, which spares its pieces elsewhere and the index that finds them.
alter table storage.blobs set (toast_tuple_target = 8160);
