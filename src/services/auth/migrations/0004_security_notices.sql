-- How many notices of one kind went to a user since `began_at`: whoever repeats something cannot fill the mailbox of the owner.
create table auth.security_notices (
  tenant_id text collate "C" not null,
  user_id text collate "C" not null,
  kind text collate "C" not null,
  sent integer not null default 1,
  began_at timestamptz(3) not null default now(),
  constraint security_notices_kind primary key (tenant_id, user_id, kind)
);
create index security_notices_age on auth.security_notices (began_at);
