/** Every list of the contract below a record created in this mock: it begins empty and shows what is created there. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nameOf } from '../../../contract-tests/contract.ts';
import { exampleBody } from '../../../contract-tests/requests.ts';
import { operations, services, type Operation, type ServiceName } from '../../../generated/operations.ts';
import { operationOf, readDocument, resolve, type Schema } from '../contract/document.ts';
import type { Item } from '../contract/plans.ts';
import { resourcesOf } from '../contract/resources.ts';
import { startMock, type Mock } from '../index.ts';
import { idIn, renamed, send } from '../testing.ts';

let mock: Mock;
beforeAll(async () => {
  mock = await startMock({ port: 0, host: '127.0.0.1', stateful: true, log: { info() {} } });
});
afterAll(() => mock.close());

/** Members of a list's envelope besides its records. */
const figures = /^(total|limit|offset|has_more|truncated|cursor|next_cursor|pagination|prefixes)$/;

const tested = new Map<string, string[]>();

describe.each(Object.keys(services) as ServiceName[])('%s', { timeout: 120_000 }, (service) => {
  const document = readDocument(service);
  const own = operations.filter((operation) => operation.service === service);
  const { items, plans } = resourcesOf(document, own);

  /** Returns the reference to the listed records, and the member that has them. */
  function shown(schema: Schema | undefined): { element: string; member: string | undefined } | undefined {
    if (!schema) return undefined;
    const { items: direct, properties = {} } = resolve(document, schema);
    if (direct?.$ref && resolve(document, direct).properties)
      return { element: direct.$ref, member: undefined };
    const others = Object.keys(properties).filter((name) => !figures.test(name));
    const [member = ''] = others;
    const element = properties[member] && resolve(document, properties[member]).items;
    if (others.length !== 1 || !element?.$ref || !resolve(document, element).properties) return undefined;
    return { element: element.$ref, member };
  }

  const answered = ({ id, responses }: Operation) => {
    const status = Math.min(...responses.map((response) => response.status));
    return operationOf(document, id).responses[status]?.content?.['application/json']?.schema;
  };
  const above = (path: string) =>
    items
      .filter((item) => path.startsWith(`${item.path}/`))
      .sort((one, other) => one.path.length - other.path.length);
  const lists = own.flatMap((operation) => {
    const list = operation.verb === 'GET' ? shown(answered(operation)) : undefined;
    return list && above(operation.path).length > 0 ? [{ operation, ...list }] : [];
  });

  /** Returns the operation that creates the records of an item. */
  const makerOf = (item: Item) =>
    own.find(({ id }) => {
      const deed = plans.get(id)?.deed;
      return deed?.does === 'create' && deed.resource === item.resource;
    });

  /**
   * Returns the operations that add to the list: those sent to the list or to one of its records, or whose answer is one of
   * them below the same record.
   */
  function addersOf(list: Operation, element: string): Operation[] {
    const parent = above(list.path).at(-1)!.path;
    return own.filter((operation) => {
      const { verb, path } = operation;
      if (verb !== 'POST' && verb !== 'PUT') return false;
      if (verb === 'PUT') return path.slice(0, path.lastIndexOf('/')) === list.path;
      const rest = path.startsWith(`${parent}/`) ? path.slice(parent.length + 1) : '{}';
      const schema = answered(operation);
      const members = Object.values((schema && resolve(document, schema).properties) ?? {});
      const tells = [schema, ...members].some((one) => one?.$ref === element);
      return !rest.includes('{') && (path === list.path || tells);
    });
  }

  it.skipIf(lists.length === 0)('lists begin empty and show what is made', async () => {
    const wrong: string[] = [];
    for (const { operation, element, member } of lists) {
      const name = nameOf(operation);
      for (const adder of [undefined, ...addersOf(operation, element)]) {
        const tenant = `${operation.id}-${adder?.id ?? 'empty'}`;
        const parameters: Record<string, string> = {};
        for (const item of above(operation.path)) {
          const maker = makerOf(item);
          const made = maker && (await make(maker, item, tenant, parameters, wrong));
          if (made === undefined) break;
          parameters[item.parameter] = made;
        }
        // The contract offers no way to create this record.
        if (Object.keys(parameters).length < above(operation.path).length) continue;
        const count = async () => {
          const { status, body } = await send(mock, operation, tenant, { parameters }, wrong);
          const found = member === undefined ? body : (body as Record<string, unknown>)[member];
          return Array.isArray(found) ? found.length : `status ${status}`;
        };
        const before = await count();
        if (before !== 0) wrong.push(`${name}: begins with ${before}`);
        if (!adder) continue;
        const added = await send(mock, adder, tenant, { parameters }, wrong);
        const after = await count();
        if (added.status >= 300 || after !== 1)
          wrong.push(`${name}: has ${after} after ${adder.id} answered ${added.status}`);
        tested.set(name, [...(tested.get(name) ?? []), adder.id]);
      }
      tested.set(name, tested.get(name) ?? []);
    }
    expect(wrong).toEqual([]);
  });

  async function make(
    maker: Operation,
    item: Item,
    tenant: string,
    parameters: Readonly<Record<string, string>>,
    wrong: string[],
  ): Promise<string | undefined> {
    const keys = items.filter(({ resource }) => resource === item.resource).flatMap((one) => one.keys);
    const body = renamed(exampleBody(maker), keys);
    const { body: made } = await send(mock, maker, tenant, { parameters, body }, wrong);
    return idIn(made, item.resource.example['id']);
  }
});

it('are found by their shape', () =>
  expect(Object.fromEntries(tested)).toMatchInlineSnapshot(`
  {
    "agents.Agents_listRuns": [
      "Agents_createRun",
    ],
    "agents.Conversations_list": [],
    "agents.Runs_events": [],
    "agents.Runs_steps": [],
    "auth.Invitations_list": [
      "Invitations_create",
    ],
    "auth.Members_list": [
      "Members_add",
    ],
    "auth.Roles_listPermissions": [
      "Roles_addPermission",
    ],
    "auth.Teams_list": [
      "Teams_create",
    ],
    "auth.Teams_members": [
      "Teams_addMember",
    ],
    "auth.Users_roles": [],
    "auth.Users_sessions": [],
    "auth.Webhooks_deliveries": [
      "Webhooks_test",
    ],
    "authz.Roles_listPermissions": [
      "Roles_attachPermission",
    ],
    "billing.Customers_invoices": [],
    "billing.Customers_subscriptions": [],
    "control.Deployments_list": [
      "Deployments_create",
      "Deployments_rollback",
    ],
    "control.Domains_list": [
      "Domains_create",
    ],
    "control.HealthChecks_list": [
      "HealthChecks_create",
    ],
    "control.HealthChecks_results": [
      "HealthChecks_run",
    ],
    "control.Releases_list": [],
    "control.Replicas_list": [],
    "control.Routes_list": [
      "Routes_create",
    ],
    "control.Secrets_list": [
      "Secrets_set",
    ],
    "control.Telemetry_logs": [],
    "control.Telemetry_metrics": [],
    "control.Telemetry_traces": [],
    "jobs.Runs_steps": [
      "Runs_saveStep",
    ],
    "keys.Keys_rotations": [
      "Keys_rotate",
    ],
    "keys.Usage_aggregateForKey": [],
    "keys.Usage_forKey": [],
    "retrieval.Chunks_list": [],
    "retrieval.Documents_list": [
      "Documents_create",
    ],
    "safety.Policies_listAssignments": [
      "Policies_assign",
    ],
    "storage.Objects_list": [
      "Objects_put",
    ],
    "storage.Uploads_list": [
      "Uploads_create",
    ],
    "webhooks.Deliveries_attempts": [],
    "webhooks.Deliveries_list": [
      "Endpoints_test",
    ],
    "webhooks.Events_deliveries": [],
  }
`));
