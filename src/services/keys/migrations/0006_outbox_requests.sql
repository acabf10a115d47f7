-- The request in which an event was written; null for work in the background.
alter table keys.outbox add column request_id text;
