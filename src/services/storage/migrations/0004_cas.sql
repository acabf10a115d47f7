-- Content under its own hash. The row of an entry is locked first by everything that changes it.

-- Adds a reference to content, and the content if nobody has stored it yet.
create function storage.put_cas(
  p_tenant text, p_sha256 bytea, p_size bigint, p_ref text, p_blob jsonb, p_blocks bytea, p_content bytea, p_quota jsonb,
  p_author jsonb, p_event text, out blob_id text, out created boolean, out deduplicated boolean, out refs integer
) language plpgsql as $$
declare
  v_entry storage.cas;
  v_stored bigint;
  v_new_ref boolean;
begin
  loop
    select * into v_entry from storage.cas where tenant_id = p_tenant and sha256 = p_sha256 for no key update;
    created := not found;
    exit when not created;
    -- Whoever comes first inserts the entry, and the others wait for it.
    insert into storage.cas (tenant_id, sha256, size) values (p_tenant, p_sha256, p_size)
    on conflict on constraint cas_pkey do nothing;
    exit when found;
  end loop;
  blob_id := v_entry.blob_id;
  -- New bytes take the place of damaged ones.
  if created or exists (select from storage.blobs where tenant_id = p_tenant and id = v_entry.blob_id and state = 'damaged') then
    select added.blob_id, added.stored into blob_id, v_stored
    from storage.add_blob(p_tenant, p_blob, p_sha256, p_blocks, p_content) as added;
    update storage.cas set blob_id = put_cas.blob_id where tenant_id = p_tenant and sha256 = p_sha256;
    perform storage.discard(p_tenant, array[v_entry.blob_id]);
  end if;
  deduplicated := case when created then v_stored = 0 and p_blob is not null else coalesce(v_stored, 0) = 0 end;
  insert into storage.cas_refs (tenant_id, sha256, ref) values (p_tenant, p_sha256, p_ref)
  on conflict on constraint cas_refs_pkey do nothing;
  v_new_ref := found;
  refs := coalesce(v_entry.refs, 0) + case when v_new_ref then 1 else 0 end;
  if refs > 10000 then perform storage.refuse('cas_references'); end if;
  update storage.cas set refs = put_cas.refs where tenant_id = p_tenant and sha256 = p_sha256;
  perform storage.count_usage(p_tenant, null, jsonb_build_object(
    'cas_entries', case when created then 1 else 0 end, 'cas_bytes', case when created then p_size else 0 end,
    'stored_bytes', coalesce(v_stored, 0)
  ), p_quota);
  if v_new_ref then
    perform storage.emit(
      p_tenant, p_event, 'storage.cas.stored', 'sha256:' || encode(p_sha256, 'hex'), p_author,
      jsonb_build_object('hash', 'sha256:' || encode(p_sha256, 'hex'), 'size', p_size, 'deduplicated', deduplicated)
    );
  end if;
end
$$;

-- Removes a reference, and with the last one the entry.
create function storage.delete_cas(
  p_tenant text, p_sha256 bytea, p_ref text, p_quota jsonb, p_author jsonb, p_event text
) returns void language plpgsql as $$
declare
  v_entry storage.cas;
begin
  select * into v_entry from storage.cas where tenant_id = p_tenant and sha256 = p_sha256 for update;
  delete from storage.cas_refs where tenant_id = p_tenant and sha256 = p_sha256 and ref = p_ref;
  if not found then perform storage.refuse('content_gone'); end if;
  if v_entry.refs > 1 then
    update storage.cas set refs = refs - 1 where tenant_id = p_tenant and sha256 = p_sha256;
    return;
  end if;
  delete from storage.cas where tenant_id = p_tenant and sha256 = p_sha256;
  perform storage.discard(p_tenant, array[v_entry.blob_id]);
  perform storage.count_usage(
    p_tenant, null, jsonb_build_object('cas_entries', -1, 'cas_bytes', -v_entry.size), p_quota
  );
  perform storage.emit(
    p_tenant, p_event, 'storage.cas.deleted', 'sha256:' || encode(p_sha256, 'hex'), p_author,
    jsonb_build_object('hash', 'sha256:' || encode(p_sha256, 'hex'))
  );
end
$$;
