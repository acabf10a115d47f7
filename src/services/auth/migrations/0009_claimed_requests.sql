-- A request belongs for a while to the process that carries it out.
alter table auth.requests add column claimed_until timestamptz(3);
