/** Where a request contains values of one kind, derived from its schema at any depth. */
import { resolve, type Schema } from './contract.ts';

/** `true` when the value itself is of the kind; otherwise the places in its members, its items, or the values of a map. */
export type Places = true | { members?: Record<string, Places>; items?: Places; values?: Places };

/** Returns the places of the values that `isOne` recognises by their schema, or null when there are none. */
export function placesOf(
  schemas: Record<string, Schema>,
  schema: Schema,
  isOne: (schema: Schema) => boolean,
): Places | null {
  return places(schemas, schema, isOne, []) ?? null;
}

function places(
  schemas: Record<string, Schema>,
  schema: Schema,
  isOne: (schema: Schema) => boolean,
  within: readonly Schema[],
): Places | undefined {
  const target = resolve(schemas, schema);
  if (within.includes(target)) return undefined;
  if (isOne(target)) return true;
  const at = (inner: Schema) => places(schemas, inner, isOne, [...within, target]);
  const { properties = {}, items, unevaluatedProperties } = target;
  const members = Object.entries(properties).flatMap(([name, member]) => {
    const found = at(member);
    return found ? [[name, found] as const] : [];
  });
  const ofItems = items && at(items);
  const values = unevaluatedProperties && at(unevaluatedProperties);
  const own = {
    ...(members.length > 0 && { members: Object.fromEntries(members) }),
    ...(ofItems && { items: ofItems }),
    ...(values && { values }),
  };
  const variants = [target.anyOf, target.oneOf, target.allOf].flatMap((forms) => forms ?? []);
  const forms = variants.map((variant) => resolve(schemas, variant)).filter(({ type }) => type !== 'null');
  const found = [own, ...forms.map(at)].filter(
    (one): one is Places => one === true || (one !== undefined && Object.keys(one).length > 0),
  );
  // Rejects a schema whose value is of the kind in one form and not in another, because the two cannot be told apart.
  if (found.length > 1 || (found.length > 0 && forms.length > 1))
    throw new Error('a value of this kind in one of several forms cannot be told from another one');
  return found[0];
}
