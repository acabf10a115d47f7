-- A put may rest on a bucket as it was found earlier, if its commit verifies that the bucket is still the same.

-- As put_objects of four parameters. p_version: the version of the bucket by which the puts were admitted; null does not matter. It refuses
-- all of them as `bucket_changed` when the bucket has another one.
create function storage.put_objects(p_tenant text, p_bucket text, p_version text, p_puts jsonb, p_quota jsonb)
returns table (place bigint, bucket text, replaced boolean, last_modified timestamptz, blob_id text, refused text)
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
begin
  if p_version is not null then
    perform from storage.buckets
    where tenant_id = p_tenant and id = p_bucket and name is not null and xmin::text = p_version for key share;
    if not found then perform storage.refuse('bucket_changed'); end if;
  end if;
  return query select * from storage.put_objects(p_tenant, p_bucket, p_puts, p_quota);
end
$$;
