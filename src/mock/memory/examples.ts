/** What the contract's examples say about its records: which records exist at the start, and what actions do to them. */
import type { Operation } from '../../../generated/operations.ts';
import type { Document } from '../contract/document.ts';
import type { NewRecord } from './memory.ts';
import { effectOf } from './records.ts';
import type { Item, Plan, Resource } from '../contract/plans.ts';
import type { Resources } from '../contract/resources.ts';
import { successOf } from '../contract/success.ts';
import { isOf, recordIn, referenceTo } from '../contract/shapes.ts';
import { isValues, type Values } from '../contract/values.ts';
import { placeOf, type Step } from './steps.ts';

/** Returns the records of the examples by resource. They exist at the start, so that the ids of the examples lead somewhere. */
export function seedsOf(
  document: Document,
  operations: readonly Operation[],
  { items, plans }: Pick<Resources, 'items' | 'plans'>,
) {
  return (resource: Resource): NewRecord[] => {
    const found = new Map<unknown, NewRecord>();
    // A record that no path names exists only as lists show it.
    const isNamed = items.some((item) => item.resource === resource);
    const add = (value: unknown, place: string | undefined) => {
      if (!isOf(resource, value) && !(isValues(value) && !isNamed)) return;
      const key = value['id'] ?? JSON.stringify(value);
      const seed = found.get(key) ?? { values: { ...value }, places: new Set<string>() };
      if (place !== undefined) seed.places.add(place);
      found.set(key, seed);
    };
    if (isNamed) add(resource.example, undefined);
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
 * Returns the effect of each action according to its examples. An action without its own example reverts what the other actions
 * change: `enable` after `disable`.
 */
export function effectsOf(
  document: Document,
  operations: readonly Operation[],
  plans: ReadonlyMap<string, Plan>,
): Map<string, Values> {
  const actions = operations.flatMap((operation) => {
    const plan = plans.get(operation.id);
    const resource = plan?.within.at(-1)?.resource;
    const { schema, example, own } = successOf(document, operation);
    if (plan?.deed.does !== 'act' || !resource || !schema) return [];
    // An answer that only this operation gives shows its effect, like an example of its own.
    const shown = own ?? (schema.$ref === referenceTo(resource) ? undefined : example);
    const record = recordIn(document, schema, shown, resource);
    const acts = record ?? (schema.$ref === referenceTo(resource) || undefined);
    return acts ? [{ id: operation.id, resource, own: record }] : [];
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
