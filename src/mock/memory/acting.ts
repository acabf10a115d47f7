/** Operations on existing records. */
import { resolve, type Schema } from '../contract/document.ts';
import { collectionOf, type Deed, type Item, type Resource } from '../contract/plans.ts';
import { recordIn } from '../contract/shapes.ts';
import { successOf } from '../contract/success.ts';
import { isValues, type Values } from '../contract/values.ts';
import { answered, exampleFor, read, refused, type Told } from './answering.ts';
import { missing, sentBy, settableBy, type Call, type Outcome } from './call.ts';
import { joined, type Received } from './contents.ts';
import { named, recordOf } from './finding.ts';
import { added, put } from './making.ts';
import { actedOn, changedRecord } from './records.ts';
import { isBelow, placeOf, type Step } from './steps.ts';
import { conditionOf } from './versions.ts';

/** Reads, writes or removes the record that the path names. */
export function onItem(
  call: Call,
  { does, item }: Extract<Deed, { does: 'get' | 'update' | 'put' | 'remove' | 'detach' }>,
  steps: readonly Step[],
): Outcome | undefined {
  const record = recordOf(call, item, steps);
  if (!record && does !== 'put') return missing(call);
  const failed = conditionOf(call, record);
  if (failed) return refused(failed, record);
  if (does === 'put' || !record) return put(call, item, record, steps);
  const { resource, path } = item;
  switch (does) {
    case 'get':
      return read(call, resource, record, steps);
    case 'update':
      record.values = changedRecord(call.document, resource, record.values, sentBy(call), call.now);
      break;
    case 'remove':
      call.store.remove(record);
      break;
    case 'detach':
      record.places.delete(placeOf(collectionOf(path), steps));
      return exampleFor(call, steps);
  }
  const { status } = successOf(call.document, call.operation);
  return answered(call, status, [[resource, record]], steps);
}

/** Removes the records that the body names. Records that do not exist count as removed. */
export function removeAll(
  call: Call,
  { item, names, told }: Extract<Deed, { does: 'removeAll' }>,
  steps: readonly Step[],
): Outcome {
  const wanted = sentBy(call)[names] as readonly string[];
  for (const name of wanted) {
    const record = named(call, item, name, steps);
    if (record) call.store.remove(record);
  }
  const { status, example } = successOf(call.document, call.operation);
  const lists = Object.keys(example as object).map((name) => [name, name === told ? wanted : []]);
  return { status, body: Object.fromEntries(lists) as unknown, headers: (headers) => headers };
}

/**
 * Runs an operation below an item. If its answer is or wraps the item's resource, it acts on the record; if its answer shows a
 * record created below the item, it creates one. Any other operation answers with its example.
 */
export function act(
  call: Call,
  { makes }: Extract<Deed, { does: 'act' }>,
  steps: readonly Step[],
): Outcome | undefined {
  const step = steps.at(-1);
  if (!step) return undefined;
  const { document, operation, store, now } = call;
  const { status, schema, example } = successOf(document, operation);
  const { record } = step;
  const { resource } = step.item;
  const asked = { sent: sentBy(call), settable: [...settableBy(call)] };
  const told: Told[] = [];
  if (schema && recordIn(document, schema, example, resource)) {
    if (operation.verb !== 'GET')
      record.values = actedOn(document, resource, record.values, store.effect, asked, now);
    told.push([resource, record]);
  }
  if (makes) {
    const above = steps.filter(({ item }) => makes.path.startsWith(`${item.path}/`));
    const from = step.item.path === above.at(-1)?.item.path ? undefined : assembled(call, step);
    const maker = from ? { ...call, received: from } : call;
    const made = added(
      maker,
      makes,
      above,
      status,
      from ? {} : sharedWith(makes.resource, schema, example, call),
    );
    told.push([makes.resource, made]);
  }
  return told.length > 0 ? answered(call, status, told, steps) : exampleFor(call, steps);
}

/** Returns the members of the created record that the example of an answer also shows, except ids and times. */
function sharedWith(
  { members }: Resource,
  schema: Schema | undefined,
  example: unknown,
  { document }: Call,
): Values {
  const { properties = {} } = schema ? resolve(document, schema) : {};
  if (!isValues(example)) return {};
  const shared = Object.entries(example).filter(
    ([name]) =>
      !/(^id|_id|_at)$/.test(name) && JSON.stringify(properties[name]) === JSON.stringify(members[name]),
  );
  return Object.fromEntries(shared);
}

/** Returns the upload into which the record of the path turns: its values, and the contents put below it, ordered by number. */
function assembled({ store }: Call, { item, record }: Step): Received | undefined {
  const below = store.items.filter(({ path }) => collectionOf(path).startsWith(`${item.path}/`));
  const parts = below.flatMap((part: Item) =>
    store
      .records(part.resource)
      .filter((one) => isBelow(one, { item, record }))
      .sort((one, other) => Number(one.values[part.keys[0]!]) - Number(other.values[part.keys[0]!])),
  );
  const contents = parts.flatMap(({ content }) => content ?? []);
  const { content, told } = joined(contents, String(record.values['content_type']));
  return { content, told: { ...record.values, ...told } };
}
