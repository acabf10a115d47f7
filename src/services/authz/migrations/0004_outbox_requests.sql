-- The request in which an event was written; null for work in the background.
alter table authz.outbox add column request_id text;
