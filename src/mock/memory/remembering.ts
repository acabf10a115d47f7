/** The stateful mock: what operations do to the records of a tenant, according to the contract's resources. */
import type { Operation, ServiceName } from '../../../generated/operations.ts';
import type { Outcome, Store } from './call.ts';
import type { Received } from './contents.ts';
import type { Document } from '../contract/document.ts';
import { effectsOf, seedsOf } from './examples.ts';
import type { Memory, NewRecord } from './memory.ts';
import { outcomeOf } from './outcome.ts';
import { fits } from './records.ts';
import type { Resource } from '../contract/plans.ts';
import { resourcesOf } from '../contract/resources.ts';
import type { Values } from '../contract/values.ts';

/** Returns undefined for an operation that involves no records. It answers with its example. */
export type Remember = (
  operation: Operation,
  request: Values,
  received: Received | undefined,
  tenant: string | undefined,
  client: string,
) => Outcome | undefined;

/** Members that name the tenant of a record: the documents have two words for it. */
const tenantMembers = ['tenant_id', 'scope_org_id'];

export function remembering(
  name: ServiceName,
  document: Document,
  operations: readonly Operation[],
  memory: Memory,
): Remember {
  const { items, plans } = resourcesOf(document, operations);
  const seeds = seedsOf(document, operations, { items, plans });
  const effects = effectsOf(document, operations, plans);
  return (operation, request, received, tenant, client) => {
    const plan = plans.get(operation.id);
    if (!plan) return undefined;
    const shelf = ({ name: resource }: Resource) => `${name} ${resource}`;
    const caller = { tenant: tenant ?? '', client };
    const writes = operation.verb !== 'GET' && operation.verb !== 'HEAD';
    const owned = ({ members }: Resource, { values, ...others }: NewRecord): NewRecord => {
      const names = tenantMembers.filter((member) => {
        const schema = members[member];
        return tenant !== undefined && schema && fits(document, schema, tenant);
      });
      const named = Object.fromEntries(names.map((member) => [member, tenant]));
      return { values: { ...values, ...named }, ...others };
    };
    const store: Store = {
      items,
      effect: effects.get(operation.id) ?? {},
      records: (resource) =>
        memory.records(
          caller,
          shelf(resource),
          () => seeds(resource).map((seed) => owned(resource, seed)),
          writes,
        ),
      add: (resource, record) => memory.add(caller, shelf(resource), owned(resource, record)),
      fill: (record, content) => memory.fill(caller.tenant, record, content),
      remove: (record) => memory.remove(caller.tenant, record),
    };
    return outcomeOf({ document, operation, request, received, plan, store, now: new Date() });
  };
}
