/** Operations that create records. */
import type { Schema } from '../contract/document.ts';
import { collectionOf, type Collection, type Deed, type Item, type Resource } from '../contract/plans.ts';
import { linksTo } from '../contract/links.ts';
import { isOf } from '../contract/shapes.ts';
import { successOf } from '../contract/success.ts';
import type { Values } from '../contract/values.ts';
import { answered, refused } from './answering.ts';
import { documents, failure, missing, sentBy, settableBy, type Call, type Outcome } from './call.ts';
import { takenBody } from './conflicts.ts';
import { sourceOf } from './copying.ts';
import { takenIn } from './finding.ts';
import type { StoredRecord } from './memory.ts';
import { changedRecord, effectOf, newRecord } from './records.ts';
import { linkValue, placeOf, type Step } from './steps.ts';
import { conditionOf } from './versions.ts';

/** Creates a record. If the name is taken, it answers a conflict, or overwrites the record when the operation documents both statuses. */
export function create(
  call: Call,
  { resource, path }: Collection,
  steps: readonly Step[],
): Outcome | undefined {
  const copy = sourceOf(call, resource, steps);
  if (copy === 'missing') return missing(call);
  const made: Call = copy
    ? { ...call, received: { told: copy.values, content: copy.content ?? call.received?.content } }
    : call;
  const taken = takenIn(made, resource, path, steps);
  const failed = conditionOf(call, taken?.record);
  if (failed) return refused(failed, taken?.record);
  const again = documents(call, 200) && documents(call, 201);
  if (taken && !again && documents(call, 409)) {
    const { member, record } = taken;
    return failure(409, takenBody(call.document, call.operation, resource, member, record.values));
  }
  const status = taken && again ? 200 : documents(call, 201) ? 201 : 202;
  const record =
    taken && again ? rewritten(made, resource, taken.record) : added(made, { resource, path }, steps, status);
  return answered(call, status, [[resource, record]], steps);
}

/** Creates or overwrites the record that the path names. */
export function put(
  call: Call,
  item: Item,
  record: StoredRecord | undefined,
  steps: readonly Step[],
): Outcome {
  const { resource, path, keys, parameter } = item;
  if (record) {
    record.values = changed(call, resource, record);
    fill(call, record);
    return answered(call, successOf(call.document, call.operation).status, [[resource, record]], steps);
  }
  const status = documents(call, 201) ? 201 : 200;
  const name = call.request[parameter];
  const named = Object.fromEntries(keys.map((key) => [key, name]));
  const made = added(call, { resource, path: collectionOf(path) }, steps, status, named);
  return answered(call, status, [[resource, made]], steps);
}

/** Puts an existing record into a collection below another record. */
export function attach(
  call: Call,
  { resource, path, member }: Extract<Deed, { does: 'attach' }>,
  steps: readonly Step[],
): Outcome | undefined {
  const id = sentBy(call)[member];
  const record = call.store.records(resource).find(({ values }) => values['id'] === id);
  if (!record) return missing(call);
  record.places.add(placeOf(path, steps));
  return answered(call, documents(call, 201) ? 201 : 200, [[resource, record]], steps);
}

/** Adds a new record to the collection, with what was sent and the given members. */
export function added(
  call: Call,
  { resource, path }: Collection,
  steps: readonly Step[],
  status: number,
  named: Values = {},
): StoredRecord {
  const { own } = successOf(call.document, call.operation, status);
  const values = newRecord(call.document, {
    resource,
    own: isOf(resource, own) ? own : undefined,
    settable: settableBy(call),
    sent: sentBy(call),
    now: call.now,
  });
  for (const { item, record } of steps) {
    for (const link of linksTo(resource, item)) values[link] = linkValue(resource, link, item, record);
  }
  return call.store.add(resource, {
    values: { ...values, ...inherited(call, resource), ...named },
    places: new Set([placeOf(path, steps)]),
    content: call.received?.content,
  });
}

/**
 * Returns members that follow from the named records: the invoice of a subscription is for its customer. Only ids follow, and
 * only when the body cannot set them.
 */
function inherited(call: Call, { members }: Resource): Values {
  const { store } = call;
  const sent = sentBy(call);
  const settable = settableBy(call);
  const found: Record<string, unknown> = {};
  for (const resource of new Set(store.items.map((item) => item.resource))) {
    const kind = resource.members['id']?.$ref;
    const name = Object.keys(members).find((one) => one !== 'id' && kind && kindOf(members[one]!) === kind);
    if (name === undefined || typeof sent[name] !== 'string') continue;
    const record = store.records(resource).find(({ values }) => values['id'] === sent[name]);
    if (!record) continue;
    for (const [member, schema] of Object.entries(members)) {
      const above = resource.members[member];
      const isSame = above && kindOf(schema) !== undefined && kindOf(above) === kindOf(schema);
      if (/_id$/.test(member) && isSame && !settable.has(member)) found[member] = record.values[member];
    }
  }
  return found;
}

/** Returns the kind of a member's value, whether or not it may be null. */
const kindOf = ({ $ref, anyOf = [] }: Schema): string | undefined =>
  $ref ?? anyOf.find((one) => one.$ref !== undefined)?.$ref;

/** Overwrites the record with what was sent, and with further values from the example of overwriting. */
function rewritten(call: Call, resource: Resource, record: StoredRecord): StoredRecord {
  const { own } = successOf(call.document, call.operation, 200);
  const effect = isOf(resource, own) ? effectOf(resource, own) : {};
  const sent = sentBy(call);
  const others = Object.entries(effect).filter(([name]) => !(name in sent) && !linksOrTimes.test(name));
  record.values = { ...changed(call, resource, record), ...Object.fromEntries(others) };
  fill(call, record);
  return record;
}

const linksOrTimes = /_(at|id|modified)$/;

const changed = (call: Call, resource: Resource, { values }: StoredRecord) =>
  changedRecord(call.document, resource, values, sentBy(call), call.now);

function fill({ store, received }: Call, record: StoredRecord): void {
  if (received?.content) store.fill(record, received.content);
}
