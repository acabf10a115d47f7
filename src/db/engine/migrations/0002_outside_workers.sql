-- Outside workers renew a lease for as long as it lasted at first, and are told which of its jobs were taken away.
alter table jobs.lease add column ttl_ms integer not null default 5000;
alter table jobs.lease add column lost text[] collate "C" not null default '{}';
