-- One row for the whole store: which directory belongs to this database, and the key that signs links (sealed).
create table storage.meta (
  singleton boolean not null default true,
  store_id text not null,
  link_key bytea not null,
  -- The shard of the directory that is swept next.
  next_shard integer not null default 0,
  constraint meta_pkey primary key (singleton),
  constraint meta_singleton check (singleton)
);

create table storage.buckets (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  app_id text collate "C" not null,
  -- Null while the bucket is emptied after a forced deletion: its name is free, and nobody finds it.
  name text collate "C",
  quota_bytes bigint not null default 0,
  quota_objects bigint not null default 0,
  max_object_bytes bigint not null default 0,
  allowed_content_types text[] not null default '{}',
  cors_origins text[] not null default '{}',
  events boolean not null default true,
  metadata jsonb not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint buckets_pkey primary key (tenant_id, id),
  constraint buckets_name unique (tenant_id, name)
);
create index buckets_emptied on storage.buckets (tenant_id, id) where name is null;

-- How much a bucket and a tenant store; the tenant's row has no bucket. Whoever stores more takes the room here first.
create table storage.usage (
  tenant_id text collate "C" not null,
  bucket_id text collate "C" not null default '',
  buckets integer not null default 0,
  objects bigint not null default 0,
  object_bytes bigint not null default 0,
  uploads bigint not null default 0,
  upload_bytes bigint not null default 0,
  cas_entries bigint not null default 0,
  cas_bytes bigint not null default 0,
  -- Bytes of blobs; only in the tenant's row, because buckets share blobs.
  stored_bytes bigint not null default 0,
  -- When an event last said that the quota was exceeded.
  refused_at timestamptz,
  constraint usage_pkey primary key (tenant_id, bucket_id),
  constraint usage_not_negative check (
    buckets >= 0 and objects >= 0 and object_bytes >= 0 and uploads >= 0 and upload_bytes >= 0 and cas_entries >= 0
    and cas_bytes >= 0 and stored_bytes >= 0
  )
);

-- Quotas of tenants that have other ones than the settings give.
create table storage.quotas (
  tenant_id text collate "C" not null,
  quota_bytes bigint not null,
  quota_objects bigint not null,
  constraint quotas_pkey primary key (tenant_id)
);

-- Immutable runs of stored bytes. Objects, parts and content-addressed entries refer to them; several may refer to one.
create table storage.blobs (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  size bigint not null,
  sha256 bytea not null,
  crc32c bigint not null,
  -- Only of bytes that arrived from a client of S3, which expects it as their entity tag.
  md5 bytea,
  -- The CRC32C of each block of 256 KiB, four bytes each; empty for content that is kept here.
  blocks bytea not null default '',
  -- Short content; null when the bytes are in the directory.
  content bytea,
  state text collate "C" not null default 'live',
  created_at timestamptz(3) not null default now(),
  constraint blobs_pkey primary key (tenant_id, id),
  constraint blobs_state check (state in ('live', 'damaged', 'deleting'))
);
alter table storage.blobs alter column blocks set storage external, alter column content set storage external;
-- Finds equal bytes that are already stored.
create index blobs_sha256 on storage.blobs (tenant_id, sha256) where state = 'live' and content is null;
-- Tells whether a file belongs to a blob; files do not name tenants.
create unique index blobs_id on storage.blobs (id);
create index blobs_damaged on storage.blobs (tenant_id, id) where state = 'damaged';
create index blobs_deleting on storage.blobs (tenant_id, id) where state = 'deleting';

create table storage.objects (
  tenant_id text collate "C" not null,
  bucket_id text collate "C" not null,
  key text collate "C" not null,
  -- Null for content without bytes, and for content of several segments.
  blob_id text collate "C",
  segments integer not null default 0,
  size bigint not null,
  etag text collate "C" not null,
  checksum text collate "C" not null,
  content_type text not null,
  cache_control text,
  content_disposition text,
  content_encoding text,
  content_language text,
  metadata jsonb not null default '{}',
  last_modified timestamptz(3) not null default now(),
  constraint objects_pkey primary key (tenant_id, bucket_id, key),
  constraint objects_bucket foreign key (tenant_id, bucket_id) references storage.buckets,
  constraint objects_blob foreign key (tenant_id, blob_id) references storage.blobs
);
create index objects_blob on storage.objects (tenant_id, blob_id) where blob_id is not null;

-- The places of blobs in objects of several parts.
create table storage.segments (
  tenant_id text collate "C" not null,
  bucket_id text collate "C" not null,
  key text collate "C" not null,
  -- The position of its first byte in the object.
  start bigint not null,
  size bigint not null,
  blob_id text collate "C" not null,
  constraint segments_pkey primary key (tenant_id, bucket_id, key, start),
  constraint segments_object foreign key (tenant_id, bucket_id, key) references storage.objects on delete cascade,
  constraint segments_blob foreign key (tenant_id, blob_id) references storage.blobs
);
create index segments_blob on storage.segments (tenant_id, blob_id);

create table storage.uploads (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  bucket_id text collate "C" not null,
  key text collate "C" not null,
  -- `open` is shown as pending or active, and after `expires_at` as expired.
  state text collate "C" not null default 'open',
  content_type text not null,
  cache_control text,
  content_disposition text,
  content_encoding text,
  content_language text,
  metadata jsonb not null default '{}',
  parts integer not null default 0,
  bytes bigint not null default 0,
  -- The request that completed it, as a digest, and the response, for its repetition.
  completion bytea,
  result jsonb,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  completed_at timestamptz(3),
  -- When it was completed, aborted or expired; a day later the record goes.
  ended_at timestamptz(3),
  constraint uploads_pkey primary key (tenant_id, id),
  constraint uploads_bucket foreign key (tenant_id, bucket_id) references storage.buckets,
  constraint uploads_state check (state in ('open', 'completed', 'aborted', 'expired'))
);
create index uploads_bucket on storage.uploads (tenant_id, bucket_id, created_at desc, id desc);
create index uploads_open on storage.uploads (expires_at) where state = 'open';
create index uploads_ended on storage.uploads (ended_at) where ended_at is not null;

create table storage.parts (
  tenant_id text collate "C" not null,
  upload_id text collate "C" not null,
  part_number integer not null,
  -- Null for a part without bytes.
  blob_id text collate "C",
  size bigint not null,
  sha256 bytea not null,
  crc32c bigint not null,
  uploaded_at timestamptz(3) not null default now(),
  constraint parts_pkey primary key (tenant_id, upload_id, part_number),
  constraint parts_upload foreign key (tenant_id, upload_id) references storage.uploads on delete cascade,
  constraint parts_blob foreign key (tenant_id, blob_id) references storage.blobs
);
create index parts_blob on storage.parts (tenant_id, blob_id) where blob_id is not null;

create table storage.cas (
  tenant_id text collate "C" not null,
  sha256 bytea not null,
  -- Null for content without bytes.
  blob_id text collate "C",
  size bigint not null,
  refs integer not null default 0,
  created_at timestamptz(3) not null default now(),
  constraint cas_pkey primary key (tenant_id, sha256),
  constraint cas_blob foreign key (tenant_id, blob_id) references storage.blobs
);
create index cas_blob on storage.cas (tenant_id, blob_id) where blob_id is not null;

create table storage.cas_refs (
  tenant_id text collate "C" not null,
  sha256 bytea not null,
  ref text collate "C" not null,
  constraint cas_refs_pkey primary key (tenant_id, sha256, ref),
  constraint cas_refs_entry foreign key (tenant_id, sha256) references storage.cas on delete cascade
);

-- Blobs that lost a pointer. The collector deletes those that have none, once readers have had time to end.
create table storage.garbage (
  tenant_id text collate "C" not null,
  blob_id text collate "C" not null,
  since timestamptz not null default now(),
  constraint garbage_pkey primary key (tenant_id, blob_id),
  constraint garbage_blob foreign key (tenant_id, blob_id) references storage.blobs on delete cascade
);
create index garbage_since on storage.garbage (since);

-- Access keys of the S3 interface. The secret is sealed, because verifying a signature needs the secret itself.
create table storage.s3_credentials (
  tenant_id text collate "C" not null,
  access_key_id text collate "C" not null,
  app_id text collate "C" not null,
  secret bytea not null,
  scopes text[] not null,
  -- Null for every bucket.
  bucket_id text collate "C",
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  constraint s3_credentials_pkey primary key (tenant_id, access_key_id),
  constraint s3_credentials_access_key unique (access_key_id)
);
