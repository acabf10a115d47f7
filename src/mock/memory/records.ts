/** How records are created and changed, according to their schemas and examples. All functions are pure. */
import { randomUUID } from 'node:crypto';
import { newId } from '../../lib/ids.ts';
import { exampleOf, resolve, type Document, type Schema } from '../contract/document.ts';
import type { Resource } from '../contract/plans.ts';
import { isValues, type Values } from '../contract/values.ts';

export interface Creation {
  readonly resource: Resource;
  /** The example of this operation's own answer, if it has one. */
  readonly own: Values | undefined;
  /** Members that the request may contain. */
  readonly settable: ReadonlySet<string>;
  /** The body with its defaults. */
  readonly sent: Values;
  readonly now: Date;
}

/**
 * Creates a record: what was sent, in the shape of the resource, with its own id and times, and members that only the server
 * sets from the example. A nullable member that was not sent is null.
 */
export function newRecord(
  document: Document,
  { resource, own, settable, sent, now }: Creation,
): Record<string, unknown> {
  const { members } = resource;
  const basis = renewed(own ?? resource.example, now);
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(members)) {
    if (name === 'version' && typeof basis[name] === 'number') values[name] = 1;
    else if (name in sent) values[name] = fitted(document, schema, basis[name], sent[name]);
    else if (isNullable(document, schema) && (settable.has(name) || own === undefined)) values[name] = null;
    else values[name] = settable.has(name) ? unsent(document, name, schema, basis, sent) : basis[name];
  }
  return values;
}

/** Returns the record after an update: absent members keep their value, `null` clears, and arrays replace. */
export function changedRecord(
  document: Document,
  { members }: Resource,
  values: Values,
  sent: Values,
  now: Date,
): Record<string, unknown> {
  const changed = { ...values };
  for (const [name, value] of Object.entries(sent)) {
    const schema = members[name];
    if (schema)
      changed[name] =
        value === null
          ? cleared(document, schema, values[name])
          : fitted(document, schema, values[name], value);
  }
  return touched(changed, now);
}

/** Returns the time of another member if the examples give both the same time (the end of a period), else now. */
function momentLike({ example }: Resource, name: string, moment: string, values: Values, now: Date): unknown {
  const same = Object.keys(example).find((other) => other !== name && example[other] === moment);
  const isLater =
    same !== undefined && typeof values[same] === 'string' && Date.parse(values[same]) > now.getTime();
  return isLater ? values[same] : now.toISOString();
}

/** Returns the members whose values differ between an answer's example and the resource's example. They are the operation's effect. */
export function effectOf({ example }: Resource, own: Values): Values {
  const others = Object.entries(own).filter(
    ([name, value]) => !ownOfEach.has(name) && JSON.stringify(value) !== JSON.stringify(example[name]),
  );
  return Object.fromEntries(others);
}

const ownOfEach = new Set(['id', 'tenant_id', 'app_id', 'updated_at', 'version']);

/** The members of an action's body, and those that it could have. */
export interface Asked {
  readonly sent: Values;
  readonly settable: readonly string[];
}

/** Returns the record after an action: with the members from its request, and its effect. A time in the effect becomes now. */
export function actedOn(
  document: Document,
  resource: Resource,
  values: Values,
  effect: Values,
  { sent, settable }: Asked,
  now: Date,
): Record<string, unknown> {
  const changed = changedRecord(document, resource, values, sent, now);
  for (const [name, value] of Object.entries(effect)) {
    if (name in sent) continue;
    // `reason` is stored as `revoke_reason`.
    const from = settable.find((one) => name.endsWith(`_${one}`));
    if (from !== undefined && sent[from] !== undefined)
      changed[name] = fitted(document, resource.members[name]!, value, sent[from]);
    else if (from !== undefined && isNullable(document, resource.members[name]!)) changed[name] = null;
    else changed[name] = isTime(value) ? momentLike(resource, name, value, changed, now) : value;
  }
  return changed;
}

/** Returns the value with some texts replaced. */
export function substituted<Value>(
  value: Value,
  texts: readonly (readonly [from: string, to: string])[],
): Value {
  let json = JSON.stringify(value);
  for (const [from, to] of texts)
    json = json.replaceAll(JSON.stringify(from).slice(1, -1), JSON.stringify(to).slice(1, -1));
  return JSON.parse(json) as Value;
}

const typeId = /^[a-z][a-z_]*_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

export const isTypeId = (value: unknown): value is string => typeof value === 'string' && typeId.test(value);

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const isTime = (value: unknown): value is string => typeof value === 'string' && time.test(value);

/** Returns the example as if created now, with a new id. */
function renewed(example: Values, now: Date): Values {
  const old = example['id'];
  const fresh =
    typeof old === 'string' ? substituted(example, isTypeId(old) ? [[old, idLike(old)]] : []) : example;
  const made = [example['created_at'], example['createdAt'], ...Object.values(example)].find(isTime);
  const later = made === undefined ? 0 : now.getTime() - Date.parse(made);
  return shifted(
    isTypeId(old) || typeof old !== 'string' ? fresh : { ...fresh, id: idLike(old) },
    later,
  ) as Values;
}

/** Returns a new id of the same form. */
function idLike(id: string): string {
  if (typeId.test(id)) return newId(id.slice(0, -27));
  const uuid = randomUUID();
  return /^[0-9a-f-]{36}$/.test(id) ? uuid : `${id}-${uuid.slice(0, 8)}`;
}

/** Shifts every time in a value by `later` milliseconds. */
function shifted(value: unknown, later: number): unknown {
  if (isTime(value)) return new Date(Date.parse(value) + later).toISOString();
  if (Array.isArray(value)) return value.map((item) => shifted(item, later));
  if (!isValues(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shifted(member, later)]));
}

/** Returns what was sent in the shape of the answer. Members that only the answer has come from the example. */
function fitted(document: Document, schema: Schema, example: unknown, sent: unknown): unknown {
  const { properties, items } = nonNull(document, schema);
  if (Array.isArray(sent)) {
    if (!items) return sent;
    const [first] = Array.isArray(example) ? (example as unknown[]) : [];
    return sent.map((one) => fitted(document, items, first ?? exampleOf(document, items), one));
  }
  if (isValues(sent) && properties) {
    const basis = isValues(example) ? example : exampleOf(document, schema);
    return Object.fromEntries(
      Object.entries(properties).flatMap(([name, member]): [string, unknown][] => {
        const before = isValues(basis) ? basis[name] : undefined;
        if (name in sent) return [[name, fitted(document, member, before, sent[name])]];
        if (isTypeId(before)) return [[name, idLike(before)]];
        return before === undefined ? [] : [[name, isNullable(document, member) ? null : before]];
      }),
    );
  }
  return scalar(document, schema, example, sent);
}

/** Returns what was sent if the member accepts it. A date becomes the moment at which the day begins. */
function scalar(document: Document, schema: Schema, example: unknown, sent: unknown): unknown {
  if (fits(document, schema, sent)) return sent;
  const moment =
    typeof sent === 'string' && nonNull(document, schema)['format'] === 'date-time' ? Date.parse(sent) : NaN;
  return Number.isNaN(moment) ? example : new Date(moment).toISOString();
}

/** Whether a member accepts this value, according to its type, enum, pattern and format. */
export function fits(document: Document, schema: Schema, value: unknown): boolean {
  if (value === null) return isNullable(document, schema);
  const { type, enum: closed, pattern, format } = nonNull(document, schema);
  const kind = Array.isArray(value) ? 'array' : typeof value;
  const kinds =
    type === undefined ? [kind] : [type].flat().map((one) => (one === 'integer' ? 'number' : one));
  if (!kinds.includes(kind) || (closed && !closed.includes(value))) return false;
  if (typeof value !== 'string') return true;
  if (format === 'date-time' && !isTime(value)) return false;
  return typeof pattern !== 'string' || new RegExp(pattern, 'u').test(value);
}

/** Returns the value of a member that could have been sent but was not: a slug follows the name, and lists are empty. */
function unsent(document: Document, name: string, schema: Schema, basis: Values, sent: Values): unknown {
  if (name === 'slug' && typeof sent['name'] === 'string') return slugOf(sent['name']);
  return cleared(document, schema, basis[name]);
}

const slugOf = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** Returns the value of a cleared member. */
function cleared(document: Document, schema: Schema, before: unknown): unknown {
  if (isNullable(document, schema)) return null;
  const { default: initial, minItems } = { ...resolve(document, schema), ...schema };
  if (initial !== undefined) return initial;
  return Array.isArray(before) && minItems === undefined ? [] : before;
}

function isNullable(document: Document, schema: Schema): boolean {
  const { anyOf = [], type } = resolve(document, schema);
  return [type].flat().includes('null') || anyOf.some((one) => isNullable(document, one));
}

/** Returns the schema of the non-null value. */
function nonNull(document: Document, schema: Schema): Schema {
  const found = resolve(document, schema);
  const others = found.anyOf?.filter((one) => one.type !== 'null') ?? [];
  return others.length === 1 ? resolve(document, others[0]!) : found;
}

/** Returns the record after a write, with a new update time and the next version. */
function touched(values: Record<string, unknown>, now: Date): Record<string, unknown> {
  const { updated_at, version } = values;
  return {
    ...values,
    ...(isTime(updated_at) ? { updated_at: now.toISOString() } : {}),
    ...(typeof version === 'number' ? { version: version + 1 } : {}),
  };
}
