/** What a JSON body may carry and does not mean, read from its schema at any depth. */
import { resolve, type Schema } from './contract.ts';

/** By place: of a value, of its members, of its items, of the values of a map. */
export interface Leeway {
  /** Members that only the server sets: dropped. */
  ignored?: string[];
  /** Members that are `null` are as good as absent. */
  nullIsAbsent?: true;
  /** Members for which `null` gives this default back. */
  restores?: Record<string, unknown>;
  members?: Record<string, Leeway>;
  items?: Leeway;
  values?: Leeway;
}

/** The leeway of a request body; null where everything in it means something. */
export function leewayOf(schemas: Record<string, Schema>, schema: Schema, verb: string): Leeway | null {
  const creates = verb === 'post';
  const found = leeway(schemas, schema, creates, []) ?? {};
  const whole = creates ? { ...found, nullIsAbsent: true as const } : found;
  return Object.keys(whole).length > 0 ? whole : null;
}

/**
 * `fresh` says that the value is made anew, as all of a POST is and the items of an array are always: what is `null` in
 * it was never there, while in a change it clears.
 */
function leeway(
  schemas: Record<string, Schema>,
  schema: Schema,
  fresh: boolean,
  within: Schema[],
): Leeway | undefined {
  const target = resolve(schemas, schema);
  if (within.includes(target)) return undefined;
  const at = (inner: Schema, anew: boolean) => leeway(schemas, inner, anew, [...within, target]);
  const {
    'x-ignored': ignored,
    'x-restores': restores,
    properties = {},
    items,
    unevaluatedProperties,
  } = target;
  const members = Object.entries(properties).flatMap(([name, member]) => {
    const found = at(member, fresh);
    return found ? [[name, found] as const] : [];
  });
  const itemLeeway = items && at(items, true);
  const values = unevaluatedProperties && at(unevaluatedProperties, fresh);
  const own: Leeway = {
    ...(ignored && ignored.length > 0 && { ignored }),
    ...(ignored && fresh && { nullIsAbsent: true }),
    ...(restores && { restores }),
    ...(members.length > 0 && { members: Object.fromEntries(members) }),
    ...(itemLeeway && { items: itemLeeway }),
    ...(values && { values }),
  };
  const parts = [target.anyOf, target.oneOf, target.allOf].flatMap((variants) => variants ?? []);
  const found = [own, ...parts.map((part) => at(part, fresh) ?? {})].filter(
    (one) => Object.keys(one).length > 0,
  );
  if (found.length > 1)
    throw new Error('a union of several models with read-only members cannot be told apart');
  return found[0];
}

/** The schemas as validators and handlers know them: in place of the `null` that gives a default back, they get the default. */
export function withoutRestored(schemas: Record<string, Schema>): Record<string, Schema> {
  const entries = Object.entries(schemas).map(([name, schema]) => {
    const { properties = {}, 'x-restores': restores } = schema;
    if (!restores) return [name, schema] as const;
    const filled = Object.keys(restores).map((member) => [member, withoutNull(properties[member]!)] as const);
    return [name, { ...schema, properties: { ...properties, ...Object.fromEntries(filled) } }] as const;
  });
  return Object.fromEntries(entries);
}

function withoutNull({ anyOf = [], ...rest }: Schema): Schema {
  const [only = {}, ...others] = anyOf.filter(({ type }) => type !== 'null');
  return others.length === 0 ? { ...only, ...rest } : { ...rest, anyOf: [only, ...others] };
}
