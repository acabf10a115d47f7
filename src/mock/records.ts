/** How records come to be and change, by their schemas and examples: pure functions. */
import { randomUUID } from 'node:crypto';
import { newId } from '../lib/ids.ts';
import { exampleOf, resolve, type Document, type Schema } from './document.ts';
import type { Resource, Values } from './resources.ts';

export interface Creation {
  readonly resource: Resource;
  /** The example of the answer of this very operation, where it has one. */
  readonly own: Values | undefined;
  /** Members that the request may carry. */
  readonly settable: ReadonlySet<string>;
  /** The body, with its defaults. */
  readonly sent: Values;
  readonly now: Date;
}

/**
 * A new record: what was sent, in the shape of the resource; an id and times of its own; and of the example what only the
 * server sets. What is nullable and was not sent is null.
 */
export function newRecord(
  document: Document,
  { resource, own, settable, sent, now }: Creation,
): Record<string, unknown> {
  const { members } = resource;
  const basis = renewed(own ?? resource.example, now);
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(members)) {
    if (name in sent) values[name] = fitted(document, schema, basis[name], sent[name]);
    else if (isNullable(document, schema) && (settable.has(name) || own === undefined)) values[name] = null;
    else values[name] = settable.has(name) ? unsent(document, name, schema, basis, sent) : basis[name];
  }
  return values;
}

/** The record after an update: absent members keep their value, `null` clears, arrays replace. */
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

/** The members in which an example of an answer is other than the example of the resource: what the operation does. */
export function effectOf({ example }: Resource, own: Values): Values {
  const others = Object.entries(own).filter(
    ([name, value]) => !ownOfEach.has(name) && JSON.stringify(value) !== JSON.stringify(example[name]),
  );
  return Object.fromEntries(others);
}

const ownOfEach = new Set(['id', 'tenant_id', 'app_id', 'updated_at']);

/** The record after an action: what its request says of members, and its effect; what is a time in the effect is now. */
export function actedOn(
  document: Document,
  resource: Resource,
  values: Values,
  effect: Values,
  sent: Values,
  now: Date,
): Record<string, unknown> {
  const changed = changedRecord(document, resource, values, sent, now);
  for (const [name, value] of Object.entries(effect))
    if (!(name in sent)) changed[name] = isTime(value) ? now.toISOString() : value;
  return changed;
}

/** The value with other texts in place of some. */
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

export const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const isTime = (value: unknown): value is string => typeof value === 'string' && time.test(value);

/** The example as if it was made now, with an id of its own. */
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

/** A new id of the same form. */
function idLike(id: string): string {
  if (typeId.test(id)) return newId(id.slice(0, -27));
  const uuid = randomUUID();
  return /^[0-9a-f-]{36}$/.test(id) ? uuid : `${id}-${uuid.slice(0, 8)}`;
}

/** Every time in a value, later by so many milliseconds. */
function shifted(value: unknown, later: number): unknown {
  if (isTime(value)) return new Date(Date.parse(value) + later).toISOString();
  if (Array.isArray(value)) return value.map((item) => shifted(item, later));
  if (!isValues(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shifted(member, later)]));
}

/** What was sent in the shape that it is answered in, which may have members of its own: those of the example. */
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

/** What was sent where the member can be that; a day is the moment at which it begins. */
function scalar(document: Document, schema: Schema, example: unknown, sent: unknown): unknown {
  if (fits(document, schema, sent)) return sent;
  const moment =
    typeof sent === 'string' && nonNull(document, schema)['format'] === 'date-time' ? Date.parse(sent) : NaN;
  return Number.isNaN(moment) ? example : new Date(moment).toISOString();
}

/** Whether a member can have this value, as far as its type, choices and pattern say. */
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

/** A member that could have been sent: a slug follows the name, lists are empty. */
function unsent(document: Document, name: string, schema: Schema, basis: Values, sent: Values): unknown {
  if (name === 'slug' && typeof sent['name'] === 'string') return slugOf(sent['name']);
  return cleared(document, schema, basis[name]);
}

const slugOf = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** What a member is that has no value. */
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

/** The schema of the value where there is one. */
function nonNull(document: Document, schema: Schema): Schema {
  const found = resolve(document, schema);
  const others = found.anyOf?.filter((one) => one.type !== 'null') ?? [];
  return others.length === 1 ? resolve(document, others[0]!) : found;
}

const touched = (values: Record<string, unknown>, now: Date) =>
  isTime(values['updated_at']) ? { ...values, updated_at: now.toISOString() } : values;
