/** Finds the records that a request concerns. */
import { collectionOf, type Item, type Resource } from '../contract/plans.ts';
import { sentBy, type Call } from './call.ts';
import type { StoredRecord } from './memory.ts';
import { isIn, type Step } from './steps.ts';

/** Returns the record that the path names as the item. */
export const recordOf = (call: Call, item: Item, steps: readonly Step[]): StoredRecord | undefined =>
  named(call, item, String(call.request[item.parameter]), steps);

/** Returns the record with this name below the given records. */
export const named = (
  { store }: Call,
  item: Item,
  name: string,
  steps: readonly Step[],
): StoredRecord | undefined =>
  store
    .records(item.resource)
    .find(
      (record) =>
        item.keys.some((key) => String(record.values[key]) === name) &&
        isIn(record, item.resource, collectionOf(item.path), steps),
    );

/**
 * Returns the record of the collection that already has the name by which a path would find the new record, and the member with
 * that name.
 */
export function takenIn(
  call: Call,
  resource: Resource,
  path: string,
  steps: readonly Step[],
): { member: string; record: StoredRecord } | undefined {
  const { store } = call;
  const keys = store.items.filter((item) => item.resource === resource).flatMap((item) => item.keys);
  const sent = sentBy(call);
  const given = keys.filter((key) => sent[key] !== undefined && sent[key] !== null);
  for (const record of store.records(resource)) {
    const member = given.find((key) => record.values[key] === sent[key]);
    if (member !== undefined && isIn(record, resource, path, steps)) return { member, record };
  }
  return undefined;
}
