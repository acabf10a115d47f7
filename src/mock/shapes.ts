/** Records as answers show them. */
import { resolve, type Document, type Schema } from './document.ts';
import { isValues } from './records.ts';
import type { Resource, Values } from './resources.ts';

export const referenceTo = ({ name }: Resource) => `#/components/schemas/${name}`;

export const isOf = ({ members }: Resource, value: unknown): value is Values =>
  isValues(value) && Object.keys(members).every((name) => name in value);

/** An answer that is the record, wraps it, or shares members with it. */
export function withRecord(
  document: Document,
  schema: Schema,
  example: unknown,
  resource: Resource,
  values: Values,
): unknown {
  const reference = referenceTo(resource);
  if (schema.$ref === reference) return values;
  const { properties = {} } = resolve(document, schema);
  if (!isValues(example)) return example;
  const members = Object.entries(example).map(([name, member]) => {
    const own = properties[name];
    if (own?.$ref === reference) return [name, values];
    const same = JSON.stringify(own) === JSON.stringify(resource.members[name]) || name === 'id';
    if (same && name in values) return [name, values[name]];
    const isId = own?.$ref !== undefined && own.$ref === resource.members['id']?.$ref;
    return [name, isId ? values['id'] : member];
  });
  return Object.fromEntries(members) as unknown;
}

/** The envelope of a list with the figures of this page, wherever it has them. */
export function counted(example: unknown, figures: Values): Values {
  if (!isValues(example)) return {};
  const members = Object.entries(example).map(([name, value]) => {
    if (name === 'pagination') return [name, counted(value, figures)];
    return [name, name in figures && figures[name] !== Infinity ? figures[name] : value];
  });
  return Object.fromEntries(members) as Values;
}
