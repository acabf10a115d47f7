import { expect, test } from 'vitest';
import { operations, type ServiceName } from '../../../generated/operations.ts';
import { readDocument } from './document.ts';
import { linksTo } from './links.ts';
import { resourcesOf } from './resources.ts';

function read(service: ServiceName) {
  return resourcesOf(
    readDocument(service),
    operations.filter((operation) => operation.service === service),
  );
}

/** Describes an operation: its deed, the resource, and the item above it: `create Team below Organization`. */
function said(service: ServiceName, id: string): string | undefined {
  const plan = read(service).plans.get(id);
  if (!plan) return undefined;
  const { deed, within } = plan;
  const resource = 'item' in deed ? deed.item.resource : 'resource' in deed ? deed.resource : undefined;
  const below = within.length > 0 ? ['below', within.map((item) => item.resource.name).join(', ')] : [];
  return [deed.does, ...(resource ? [resource.name] : []), ...below].join(' ');
}

test.each<[service: ServiceName, id: string, does: string | undefined]>([
  ['authz', 'Roles_create', 'create Role'],
  ['authz', 'Roles_list', 'list Role'],
  ['authz', 'Roles_get', 'get Role'],
  ['authz', 'Roles_update', 'update Role'],
  ['authz', 'Roles_delete', 'remove Role'],
  // A permission exists on its own and is put into roles.
  ['authz', 'Roles_attachPermission', 'attach Permission below Role'],
  ['authz', 'Roles_detachPermission', 'detach Permission below Role'],
  ['auth', 'Teams_create', 'create Team below Organization'],
  ['auth', 'Teams_delete', 'remove Team below Organization'],
  // The answer wraps the key, extends the endpoint, or names the document.
  ['keys', 'Keys_create', 'create Key'],
  ['webhooks', 'Endpoints_create', 'create Endpoint'],
  ['retrieval', 'Documents_create', 'create Document below Collection'],
  ['billing', 'Plans_list', 'list Plan'],
  ['billing', 'Plans_archive', 'act below Plan'],
  ['jobs', 'Queues_put', 'put Queue'],
  ['agents', 'Agents_createRun', 'create Run below Agent'],
  ['control', 'Deployments_create', 'create Deployment below Instance'],
  // A short form of a named record, a record that no path names, and a name chosen by the service.
  ['storage', 'Objects_list', 'list StoredObject below Bucket'],
  ['storage', 'Objects_deleteMany', 'removeAll StoredObject below Bucket'],
  ['storage', 'Cas_put', 'create StoredContent'],
  ['keys', 'Keys_rotations', 'list Rotation below Key'],
  // The answer contains a record created elsewhere.
  ['auth', 'Accounts_signup', 'create User'],
  // Neither a format nor a figure is a record, and a check only asks a question.
  ['audit', 'Reports_export', 'act below Report'],
  ['billing', 'Entitlements_check', undefined],
  ['authz', 'Decisions_check', undefined],
])('%s %s: %s', (service, id, does) => {
  expect(said(service, id)).toBe(does);
});

test.each<[service: ServiceName, path: string, keys: string[]]>([
  ['authz', '/v1/roles/{roleId}', ['id']],
  ['billing', '/billing/plans/{plan}', ['id', 'slug']],
  ['agents', '/agentsvc/agents/{name}', ['id', 'name']],
  ['jobs', '/v1/queues/{name}', ['name']],
  ['webhooks', '/endpoints/{id}', ['id', 'uid']],
  ['billing', '/billing/customers/email/{email}', ['email']],
])('%s %s names a record by %s', (service, path, keys) => {
  expect(read(service).items.find((item) => item.path === path)?.keys).toEqual(keys);
});

test.each<[service: ServiceName, resource: string, path: string, links: string[]]>([
  ['auth', 'Team', '/v1/auth/organizations/{orgId}', ['org_id']],
  ['agents', 'Run', '/agentsvc/agents/{name}', ['agent_id', 'agent_name']],
  ['storage', 'Upload', '/store/v1/buckets/{bucket}', ['bucket']],
  ['authz', 'Permission', '/v1/roles/{roleId}', []],
])('%s %s is below %s by %s', (service, name, path, links) => {
  const { resources, items } = read(service);
  const item = items.find((one) => one.path === path)!;
  expect(
    linksTo(
      resources.find((one) => one.name === name)!,
      item,
    ),
  ).toEqual(links);
});
