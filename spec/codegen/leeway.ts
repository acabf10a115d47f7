/** Members that a JSON body may carry but that have no effect, derived from its schema at any depth. */
import { resolve, type Schema } from './contract.ts';

/** Leeway by position: of a value, its members, its items, and the values of a map. */
export interface Leeway {
  /** Members that are known by other spellings: the spelling without case and underscores → the name. */
  folded?: Record<string, string>;
  /** Members that only the server sets. They are removed. */
  ignored?: string[];
  /** Whether the value becomes something new, which is refused with such members. */
  refused?: true;
  /** Those among them that, in a change, must be the resource's own. */
  fixed?: string[];
  /** Whether members that are `null` count as absent. */
  nullIsAbsent?: true;
  /** Members that `null` resets to this default. */
  restores?: Record<string, unknown>;
  members?: Record<string, Leeway>;
  items?: Leeway;
  values?: Leeway;
}

/**
 * Returns the leeway of a request body, or null when everything in it has an effect. `readable` says that what the request
 * changes can be read at the same path, so that what is written back can be compared with it.
 */
export function leewayOf(
  schemas: Record<string, Schema>,
  schema: Schema,
  verb: string,
  readable = false,
): Leeway | null {
  const creates = verb === 'post';
  const found = leeway(schemas, schema, { creates, fresh: creates }, []) ?? {};
  const fixed = creates || !readable ? [] : (found.ignored ?? []).filter((name) => !moving.has(name));
  const whole = {
    ...found,
    ...(fixed.length > 0 && { fixed }),
    ...(creates && { nullIsAbsent: true as const }),
  };
  return Object.keys(whole).length > 0 ? whole : null;
}

/** Members that change without anybody's doing, so that what was read may differ from what is. */
const moving = new Set([
  ...[
    'updated_at',
    'updatedAt',
    'revision',
    'version',
    'next_run_at',
    'oldest_due_at',
    'counts',
    'live_secrets',
  ],
  ...['last_fired_at', 'last_signin_at', 'last_used_at', 'key_count', 'member_count', 'times_redeemed'],
  // What indexing, deploying and watching find out.
  ...['chunk_count', 'document_count', 'reindex', 'content_hash', 'content_length', 'text_length'],
  ...[
    'deployment_id',
    'operation_id',
    'endpoints',
    'pending_changes',
    'state_reason',
    'health',
    'health_status',
  ],
  ...['disabled_reason', 'unresolved'],
  ...['usage', 'used_bytes', 'used_objects'],
]);

/**
 * `creates` says that the request is a POST. `fresh` says that the value is new, like all of a POST body and always the items of an
 * array: `null` in a new value means absent, while in a change it clears the member.
 */
function leeway(
  schemas: Record<string, Schema>,
  schema: Schema,
  { creates, fresh }: { creates: boolean; fresh: boolean },
  within: Schema[],
): Leeway | undefined {
  const target = resolve(schemas, schema);
  if (within.includes(target)) return undefined;
  const at = (inner: Schema, anew: boolean) =>
    leeway(schemas, inner, { creates, fresh: anew }, [...within, target]);
  const {
    'x-ignored': ignored,
    'x-written-back': writtenBack,
    'x-restores': restores,
    'x-folded': isFolded,
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
    ...(isFolded && { folded: foldedNames(Object.keys(properties)) }),
    ...(ignored && ignored.length > 0 && { ignored }),
    ...(ignored && ignored.length > 0 && creates && !writtenBack && { refused: true }),
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

/** Throws when two members would be known by the same spelling. */
function foldedNames(names: string[]): Record<string, string> {
  const folded = names.map((name) => [name.toLowerCase().replaceAll('_', ''), name] as const);
  const found = Object.fromEntries(folded);
  if (Object.keys(found).length < names.length)
    throw new Error(`${names.join(', ')}: two of them differ only in case and underscores`);
  return found;
}

/** Returns the schemas as validators and handlers see them: with the default in place of the `null` that restores it. */
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
