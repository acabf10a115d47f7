-- By which master key the database is sealed: an HMAC of a fixed text, which tells nothing of the key. One row. Where the key is
-- lost for good, and what it sealed with it, deleting the row lets another key begin.
create table plinth.master_key (
  one boolean not null default true,
  fingerprint bytea not null,
  since timestamptz(3) not null default now(),
  constraint master_key_pkey primary key (one),
  constraint master_key_one check (one)
);
