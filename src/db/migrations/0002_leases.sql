-- Which process runs which periodic sweep, and when the next run is due.
create table plinth.leases (
  name text not null,
  holder uuid not null,
  -- The holder renews it while it runs; when it has passed, the holder is gone.
  expires_at timestamptz(3) not null,
  due_at timestamptz(3) not null,
  constraint leases_pkey primary key (name)
);
