/** What the examples of a contract say about its records: which there are at the start, and what actions do to them. */
import type { Operation } from '../../generated/operations.ts';
import type { Document } from './document.ts';
import type { NewRecord } from './memory.ts';
import { effectOf } from './records.ts';
import { successOf, type Item, type Plan, type Resource, type Values } from './resources.ts';
import { isOf, referenceTo } from './shapes.ts';
import { placeOf, type Step } from './steps.ts';

/** The records of the examples, by resource: they exist at the start, so that the ids of the examples lead somewhere. */
export function seedsOf(
  document: Document,
  operations: readonly Operation[],
  plans: ReadonlyMap<string, Plan>,
) {
  return (resource: Resource): NewRecord[] => {
    const found = new Map<unknown, NewRecord>();
    const add = (value: unknown, place: string | undefined) => {
      if (!isOf(resource, value)) return;
      const key = value['id'] ?? JSON.stringify(value);
      const seed = found.get(key) ?? { values: { ...value }, places: new Set<string>() };
      if (place !== undefined) seed.places.add(place);
      found.set(key, seed);
    };
    add(resource.example, undefined);
    for (const operation of operations) {
      const plan = plans.get(operation.id);
      if (!plan) continue;
      const { deed, within } = plan;
      const { example } = successOf(document, operation);
      if (deed.does === 'get' && deed.item.resource === resource) add(example, undefined);
      if (deed.does !== 'list' || deed.resource !== resource) continue;
      const listed = deed.member === undefined ? example : (example as Values | undefined)?.[deed.member];
      for (const record of Array.isArray(listed) ? listed : [])
        add(record, placeOf(deed.path, within.map(asExample)));
    }
    return [...found.values()];
  };
}

/**
 * What each action does, told by its examples. One without an example of its own brings back what the others change: `enable`
 * after `disable`.
 */
export function effectsOf(
  document: Document,
  operations: readonly Operation[],
  plans: ReadonlyMap<string, Plan>,
): Map<string, Values> {
  const actions = operations.flatMap((operation) => {
    const plan = plans.get(operation.id);
    const resource = plan?.within.at(-1)?.resource;
    const { schema, own } = successOf(document, operation);
    const acts = plan?.deed.does === 'act' && resource && schema?.$ref === referenceTo(resource);
    return acts ? [{ id: operation.id, resource, own: isOf(resource, own) ? own : undefined }] : [];
  });
  return new Map(
    actions.map(({ id, resource, own }) => {
      if (own) return [id, effectOf(resource, own)];
      const siblings = actions.filter((other) => other.resource === resource && other.own);
      const names = siblings.flatMap((other) => Object.keys(effectOf(resource, other.own!)));
      return [id, Object.fromEntries(names.map((name) => [name, resource.example[name]]))];
    }),
  );
}

const asExample = (item: Item): Step => ({
  item,
  record: { seq: 0, values: { ...item.resource.example }, places: new Set() },
});
