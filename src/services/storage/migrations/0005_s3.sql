-- S3 lists open uploads by key.
create index uploads_key on storage.uploads (tenant_id, bucket_id, key, id) where state = 'open';

-- The entity tags that clients of S3 expect of objects that they uploaded in parts. A tag counts only while the object has this etag.
create table storage.s3_tags (
  tenant_id text collate "C" not null,
  bucket_id text collate "C" not null,
  key text collate "C" not null,
  etag text collate "C" not null,
  tag text collate "C" not null,
  constraint s3_tags_pkey primary key (tenant_id, bucket_id, key),
  constraint s3_tags_object foreign key (tenant_id, bucket_id, key) references storage.objects on delete cascade
);
