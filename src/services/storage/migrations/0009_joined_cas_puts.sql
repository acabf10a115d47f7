-- Content-addressed puts of one tenant share a commit, for the same reason as those of objects: each has to wait for the row that counts
-- the tenant's usage until the one before is on the disk.

-- Adds a reference to content, and the content if nobody has stored it yet. The usage is left to the caller, who may do this for several
-- contents, in the order of their hashes, before its row is locked.
create function storage.place_cas(
  p_tenant text, p_sha256 bytea, p_size bigint, p_ref text, p_blob jsonb, p_blocks bytea, p_content bytea, p_author jsonb, p_event text,
  out blob_id text, out created boolean, out deduplicated boolean, out refs integer, out stored bigint
) language plpgsql as $$
declare
  v_entry storage.cas;
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
    select added.blob_id, added.stored into blob_id, stored
    from storage.add_blob(p_tenant, p_blob, p_sha256, p_blocks, p_content) as added;
    update storage.cas set blob_id = place_cas.blob_id where tenant_id = p_tenant and sha256 = p_sha256;
    perform storage.discard(p_tenant, array[v_entry.blob_id]);
  end if;
  deduplicated := case when created then stored = 0 and p_blob is not null else coalesce(stored, 0) = 0 end;
  stored := coalesce(stored, 0);
  insert into storage.cas_refs (tenant_id, sha256, ref) values (p_tenant, p_sha256, p_ref)
  on conflict on constraint cas_refs_pkey do nothing;
  v_new_ref := found;
  refs := coalesce(v_entry.refs, 0) + case when v_new_ref then 1 else 0 end;
  if refs > 10000 then perform storage.refuse('cas_references'); end if;
  update storage.cas set refs = place_cas.refs where tenant_id = p_tenant and sha256 = p_sha256;
  if v_new_ref then
    perform storage.emit(
      p_tenant, p_event, 'storage.cas.stored', 'sha256:' || encode(p_sha256, 'hex'), p_author,
      jsonb_build_object('hash', 'sha256:' || encode(p_sha256, 'hex'), 'size', p_size, 'deduplicated', deduplicated)
    );
  end if;
end
$$;

-- The same for several contents. What one of them is refused for does not concern the others; only a quota that all of them together
-- exceed refuses all. Returns for each place in p_puts what became of it, or under which name it was refused.
-- p_puts: [{size, ref, author, event, sha256, blob, blocks, content}], as in storage.put_objects.
create function storage.put_cas_all(p_tenant text, p_puts jsonb, p_quota jsonb)
returns table (place bigint, blob_id text, created boolean, deduplicated boolean, refs integer, refused text)
language plpgsql as $$
declare
  v_put jsonb;
  v_set record;
  v_entries bigint := 0;
  v_bytes bigint := 0;
  v_stored bigint := 0;
begin
  for place, v_put in
    select given.place, given.put from jsonb_array_elements(p_puts) with ordinality as given(put, place)
    order by given.put->>'sha256' collate "C", given.place
  loop
    begin
      refused := null;
      select * into v_set from storage.place_cas(
        p_tenant, decode(v_put->>'sha256', 'hex'), (v_put->>'size')::bigint, v_put->>'ref', nullif(v_put->'blob', 'null'),
        decode(v_put->>'blocks', 'base64'), decode(v_put->>'content', 'base64'), v_put->'author', v_put->>'event'
      );
      blob_id := v_set.blob_id; created := v_set.created; deduplicated := v_set.deduplicated; refs := v_set.refs;
      v_stored := v_stored + v_set.stored;
      if created then
        v_entries := v_entries + 1;
        v_bytes := v_bytes + (v_put->>'size')::bigint;
      end if;
    exception when check_violation then
      get stacked diagnostics refused = constraint_name;
    end;
    return next;
  end loop;
  perform storage.count_usage(p_tenant, null, jsonb_build_object(
    'cas_entries', v_entries, 'cas_bytes', v_bytes, 'stored_bytes', v_stored
  ), p_quota);
end
$$;

drop function storage.put_cas(text, bytea, bigint, text, jsonb, bytea, bytea, jsonb, jsonb, text);
