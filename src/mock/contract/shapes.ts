/** Records in the forms that answers give them. */
import { resolve, type Document, type Schema } from './document.ts';
import type { Resource } from './plans.ts';
import { isValues, type Values } from './values.ts';

export const referenceTo = ({ name }: Resource) => `#/components/schemas/${name}`;

export const isOf = ({ members }: Resource, value: unknown): value is Values =>
  isValues(value) && Object.keys(members).every((name) => name in value);

/** Returns the record that an answer is, wraps, extends or shows in part, or undefined when it has no record of the resource. */
export function recordIn(
  document: Document,
  schema: Schema,
  answer: unknown,
  resource: Resource,
): Values | undefined {
  if (!isValues(answer)) return undefined;
  const reference = referenceTo(resource);
  if (schema.$ref === reference) return answer;
  const { properties = {} } = resolve(document, schema);
  const wrapping = Object.keys(properties).find((name) => properties[name]!.$ref === reference);
  const wrapped = wrapping === undefined ? undefined : answer[wrapping];
  if (isValues(wrapped)) return wrapped;
  const members = Object.entries(resource.members);
  const isMore = members.every(([name, own]) => JSON.stringify(properties[name]) === JSON.stringify(own));
  return isMore || isPart(properties, resource) ? answer : undefined;
}

/** Whether an answer has an id and only members of the resource, apart from descriptions. */
function isPart(properties: Readonly<Record<string, Schema>>, { members }: Resource): boolean {
  const kind = (schema: Schema | undefined) =>
    JSON.stringify(schema, (name, value: unknown) =>
      /^(description|readOnly)$/.test(name) && typeof value !== 'object' ? undefined : value,
    );
  return (
    'id' in properties &&
    Object.keys(properties).every((name) => kind(properties[name]) === kind(members[name]))
  );
}

/** Returns the answer with the record in it: the answer is the record, wraps it, or shares members with it. */
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
  const part = isPart(properties, resource);
  const members = Object.entries(example).map(([name, member]) => {
    const own = properties[name];
    if (own?.$ref === reference) return [name, values];
    const same = part || JSON.stringify(own) === JSON.stringify(resource.members[name]) || name === 'id';
    if (same && name in values) return [name, values[name]];
    const isId = own?.$ref !== undefined && own.$ref === resource.members['id']?.$ref;
    return [name, isId ? values['id'] : member];
  });
  return Object.fromEntries(members) as unknown;
}

/** Returns the envelope of a list with the figures of this page wherever it has them. */
export function counted(example: unknown, figures: Values): Values {
  if (!isValues(example)) return {};
  const members = Object.entries(example).map(([name, value]) => {
    if (name === 'pagination') return [name, counted(value, figures)];
    return [name, name in figures && figures[name] !== Infinity ? figures[name] : value];
  });
  return Object.fromEntries(members) as Values;
}
