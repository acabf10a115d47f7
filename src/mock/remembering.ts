/** The stateful mock: what operations do to the records of a tenant, planned by what the contract says about resources. */
import type { Operation, ServiceName } from '../../generated/operations.ts';
import { Call, type Outcome } from './call.ts';
import type { Document } from './document.ts';
import { effectsOf, seedsOf } from './examples.ts';
import type { Memory, NewRecord } from './memory.ts';
import { fits } from './records.ts';
import { resourcesOf, type Resource, type Values } from './resources.ts';

/** Undefined for what has nothing to do with records: that answers its example. */
export type Remember = (
  operation: Operation,
  request: Values,
  tenant: string | undefined,
) => Outcome | undefined;

export function remembering(
  name: ServiceName,
  document: Document,
  operations: readonly Operation[],
  memory: Memory,
): Remember {
  const { items, plans } = resourcesOf(document, operations);
  const seeds = seedsOf(document, operations, plans);
  const effects = effectsOf(document, operations, plans);
  return (operation, request, tenant) => {
    const plan = plans.get(operation.id);
    if (!plan) return undefined;
    const shelf = ({ name: resource }: Resource) => `${name} ${resource} ${tenant ?? ''}`;
    const owned = ({ members }: Resource, { values, places }: NewRecord): NewRecord => {
      const schema = members['tenant_id'];
      const isNamed = tenant !== undefined && schema && fits(document, schema, tenant);
      return { values: isNamed ? { ...values, tenant_id: tenant } : values, places };
    };
    return new Call(document, operation, request, plan, {
      items,
      effect: effects.get(operation.id) ?? {},
      records: (resource) =>
        memory.records(shelf(resource), () => seeds(resource).map((seed) => owned(resource, seed))),
      add: (resource, record) => memory.add(shelf(resource), owned(resource, record)),
      remove: (record) => memory.remove(record),
    }).outcome();
  };
}
