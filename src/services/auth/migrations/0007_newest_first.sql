-- Lists are newest first, and rows of one millisecond are in the order of their ids, also newest first. With both columns in one
-- direction, an index answers "what follows this row" as one range. Before, the ids of one millisecond were in ascending order.
drop index auth.apps_newest;
create index apps_newest on auth.apps (tenant_id, created_at desc, id desc);
drop index auth.users_newest;
create index users_newest on auth.users (tenant_id, app_id, created_at desc, id desc);
drop index auth.sessions_of_user;
create index sessions_of_user on auth.sessions (tenant_id, user_id, created_at desc, id desc);
drop index auth.roles_newest;
create index roles_newest on auth.roles (tenant_id, app_id, created_at desc, id desc);
drop index auth.organizations_newest;
create index organizations_newest on auth.organizations (tenant_id, app_id, created_at desc, id desc);
drop index auth.members_newest;
create index members_newest on auth.members (tenant_id, org_id, created_at desc, id desc);
drop index auth.invitations_newest;
create index invitations_newest on auth.invitations (tenant_id, org_id, created_at desc, id desc);
drop index auth.teams_newest;
create index teams_newest on auth.teams (tenant_id, org_id, created_at desc, id desc);
drop index auth.forms_newest;
create index forms_newest on auth.forms (tenant_id, app_id, created_at desc, id desc);
drop index auth.webhooks_newest;
create index webhooks_newest on auth.webhooks (tenant_id, app_id, created_at desc, id desc);
drop index auth.deliveries_newest;
create index deliveries_newest on auth.deliveries (tenant_id, webhook_id, created_at desc, id desc);
drop index auth.messages_newest;
create index messages_newest on auth.messages (tenant_id, app_id, created_at desc, id desc);
drop index auth.clients_newest;
create index clients_newest on auth.clients (tenant_id, app_id, created_at desc, id desc);
create index team_members_newest on auth.team_members (tenant_id, team_id, created_at desc, id desc);
