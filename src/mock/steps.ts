/** Where records live: below the records that a path goes through. */
import type { Kept } from './memory.ts';
import { isTypeId } from './records.ts';
import { linksTo, type Item, type Resource } from './resources.ts';

/** An item of the path and the record that it names. */
export interface Step {
  readonly item: Item;
  readonly record: Kept;
}

/** A collection below records: its path with their names in it. */
export function placeOf(path: string, steps: readonly Step[]): string {
  return steps.reduce(
    (place, { item, record }) => place.replace(`{${item.parameter}}`, String(record.values[item.keys[0]!])),
    path,
  );
}

/** Whether a record is in the collection: it names the record above it, or was put there. */
export function isIn(
  { values, places }: Kept,
  resource: Resource,
  path: string,
  steps: readonly Step[],
): boolean {
  const above = steps.at(-1);
  if (!above) return true;
  const [link] = linksTo(resource, above.item);
  if (link === undefined) return places.has(placeOf(path, steps));
  const { values: owner } = above.record;
  return Object.keys(above.item.resource.members).some(
    (key) => typeof owner[key] === 'string' && owner[key] === values[link],
  );
}

/** What the link is: the member of the record above that it is in the examples. */
export function linkValue(
  resource: Resource,
  link: string,
  { resource: above, keys }: Item,
  { values }: Kept,
): unknown {
  const wanted = resource.example[link];
  const key =
    ['id', ...keys].find((name) => wanted !== undefined && above.example[name] === wanted) ?? keys[0]!;
  return values[key];
}

/** The ids of the examples, and those that are meant instead. */
export function textsOf(steps: readonly Step[]): [string, string][] {
  return steps.flatMap(({ item, record }): [string, string][] => {
    const from = item.resource.example['id'];
    const to = record.values['id'];
    return isTypeId(from) && isTypeId(to) ? [[from, to]] : [];
  });
}
