/** Where a request contains times (`format: date-time`), derived from its schema at any depth. */
import { resolve, type Schema } from './contract.ts';

/** `true` when the value itself is a time; otherwise the times in its members, its items, or the values of a map. */
export type Moments = true | { members?: Record<string, Moments>; items?: Moments; values?: Moments };

/** Returns the times in a request body or a parameter, or null when it has none. */
export function momentsOf(schemas: Record<string, Schema>, schema: Schema): Moments | null {
  return moments(schemas, schema, []) ?? null;
}

function moments(
  schemas: Record<string, Schema>,
  schema: Schema,
  within: readonly Schema[],
): Moments | undefined {
  const target = resolve(schemas, schema);
  if (within.includes(target)) return undefined;
  if (target.format === 'date-time') return true;
  const at = (inner: Schema) => moments(schemas, inner, [...within, target]);
  const { properties = {}, items, unevaluatedProperties } = target;
  const members = Object.entries(properties).flatMap(([name, member]) => {
    const found = at(member);
    return found ? [[name, found] as const] : [];
  });
  const itemMoments = items && at(items);
  const values = unevaluatedProperties && at(unevaluatedProperties);
  const own = {
    ...(members.length > 0 && { members: Object.fromEntries(members) }),
    ...(itemMoments && { items: itemMoments }),
    ...(values && { values }),
  };
  const variants = [target.anyOf, target.oneOf, target.allOf].flatMap((forms) => forms ?? []);
  const forms = variants.map((variant) => resolve(schemas, variant)).filter(({ type }) => type !== 'null');
  const found = [own, ...forms.map(at)].filter(
    (one): one is Moments => one === true || (one !== undefined && Object.keys(one).length > 0),
  );
  // Rejects a schema whose value is a time in one form and may be any text in another, because the two cannot be told apart.
  if (found.length > 1 || (found.length > 0 && forms.length > 1))
    throw new Error('a moment in one of several forms cannot be told from another text');
  return found[0];
}
