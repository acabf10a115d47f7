/** Where records live: below the records on a path. */
import type { StoredRecord } from './memory.ts';
import { isTypeId } from './records.ts';
import type { Item, Resource } from '../contract/plans.ts';
import { linksTo } from '../contract/links.ts';

/** An item of the path and the record that it names. */
export interface Step {
  readonly item: Item;
  readonly record: StoredRecord;
}

/** Returns a collection below records: its path with their names filled in. */
export function placeOf(path: string, steps: readonly Step[]): string {
  return steps.reduce(
    (place, { item, record }) => place.replace(`{${item.parameter}}`, String(record.values[item.keys[0]!])),
    path,
  );
}

/** Whether a record is in the collection: it names the record above it, or was put there. */
export function isIn(
  { values, places }: StoredRecord,
  resource: Resource,
  path: string,
  steps: readonly Step[],
): boolean {
  const above = steps.at(-1);
  if (!above) return true;
  const [link] = linksTo(resource, above.item);
  if (link === undefined) return places.has(placeOf(path, steps));
  const { values: owner } = above.record;
  return ['id', ...above.item.keys].some((key) => owner[key] !== undefined && owner[key] === values[link]);
}

/** Returns the value of the link: the member of the record above that has the same value in the examples. */
export function linkValue(
  resource: Resource,
  link: string,
  { resource: above, keys }: Item,
  { values }: StoredRecord,
): unknown {
  const wanted = resource.example[link];
  const key =
    ['id', ...keys].find((name) => wanted !== undefined && above.example[name] === wanted) ?? keys[0]!;
  return values[key];
}

/** Returns the ids in the examples with the ids that replace them. */
export function textsOf(steps: readonly Step[]): [string, string][] {
  return steps.flatMap(({ item, record }): [string, string][] => {
    const from = item.resource.example['id'];
    const to = record.values['id'];
    return isTypeId(from) && isTypeId(to) ? [[from, to]] : [];
  });
}

/** Whether a record was put into a collection below this one. */
export const isBelow = ({ places }: StoredRecord, { item, record }: Step): boolean =>
  [...places].some((place) => item.keys.some((key) => place.includes(`/${String(record.values[key])}/`)));
