-- S3 lists open uploads by key.
create index uploads_key on storage.uploads (tenant_id, bucket_id, key, id) where state = 'open';
