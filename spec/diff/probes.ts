/** Values to try where two schemas differ: at the limits that either schema sets. */
import { isJson, writeContent } from './content.ts';
import { isNothing, isObject, isSealed, type Schema } from './document.ts';
import { joined } from './flat.ts';
import { meaning } from './meaning.ts';
import { itemOf, memberOf } from './members.ts';
import { typesOf } from './reasons.ts';
import { anything, mostItems, sample, withoutConditions } from './sample.ts';
import { differences, type Search, type Trail } from './search.ts';
import { matching, texts } from './texts.ts';

/** Returns values that may match two forms of which only one may match: values at the limits of each pair. */
export function overlaps(by: Search, { oneOf = [] }: Schema): unknown[] {
  const forms = oneOf.map((form) => by.refusing.resolve(form));
  return forms.flatMap((form, at) =>
    forms.slice(at + 1).flatMap((other) => {
      const both = joined(by.refusing.resolve, form, other);
      return [
        ...(both ? [sample(by.refusing, both)] : []),
        ...[form, other].flatMap((one) => probesOfOne(by, one)),
      ];
    }),
  );
}

function probesOfOne(by: Search, schema: Schema): unknown[] {
  const made = [sample(by.refusing, schema), ...(schema.examples ?? []), ...(schema.enum ?? [])];
  switch (typesOf(schema)?.[0]) {
    case 'string':
      return [...made, ...texts(schema, schema).slice(0, 200)];
    case 'integer':
    case 'number':
      return [...made, ...numbers(schema, schema)];
    case 'object': {
      const all = Object.entries(schema.properties ?? {}).map(([name, part]) => [
        name,
        sample(by.refusing, part),
      ]);
      return [...made, Object.fromEntries(all)];
    }
    default:
      return [...made, ...anything];
  }
}

/** Returns candidates only: the first schema need not accept them, and the other need not refuse them. */
export function probes(by: Search, accepting: Schema, refusing: Schema, trail: Trail): unknown[] {
  return [...ofType(by, accepting, refusing, trail), ...ofConditions(by, accepting, refusing, trail)];
}

function ofType(by: Search, accepting: Schema, refusing: Schema, trail: Trail): unknown[] {
  const known = [sample(by.accepting, accepting), ...(accepting.examples ?? [])];
  if (accepting.enum) return [...accepting.enum];
  if ('const' in accepting) return [accepting.const];
  switch (typesOf(accepting)?.[0]) {
    case 'string':
      return [...known, ...texts(accepting, refusing), ...contents(by, accepting, refusing, trail)];
    case 'integer':
    case 'number':
      return [...known, ...numbers(accepting, refusing)];
    case 'boolean':
      return [true, false];
    case 'array':
      return [...known, ...lists(by, accepting, refusing, trail)];
    case 'object':
      return [...known, ...objects(by, accepting, refusing, trail)];
    default:
      return [...known, ...anything, ...ofAnyType(by, accepting, refusing, trail)];
  }
}

/** Returns values for a schema without a type, of the types that the other schema's keywords concern. */
function ofAnyType(by: Search, accepting: Schema, refusing: Schema, trail: Trail): unknown[] {
  const speaksOf = (keywords: string) =>
    keywords.split(' ').some((keyword) => keyword in accepting || keyword in refusing);
  return [
    ...objects(by, accepting, refusing, trail),
    ...(speaksOf('minLength maxLength pattern format contentMediaType contentEncoding')
      ? texts(accepting, refusing)
      : []),
    ...(speaksOf('minimum maximum exclusiveMinimum exclusiveMaximum multipleOf')
      ? numbers(accepting, refusing)
      : []),
    ...(speaksOf('items prefixItems contains minItems maxItems uniqueItems')
      ? lists(by, accepting, refusing, trail)
      : []),
  ];
}

/** Returns values that match a condition of either schema, and values that a condition of the second refuses. */
function ofConditions(by: Search, accepting: Schema, refusing: Schema, trail: Trail): unknown[] {
  const base = withoutConditions(accepting);
  const under = (condition: Schema) =>
    by.accepting.resolve(joined(by.accepting.resolve, base, condition) ?? condition);
  const refusedBy = (narrow: Schema, part: Schema | undefined): unknown[] => {
    const against = by.refusing.resolve(part ?? {});
    const pair = `${meaning(narrow)} ${meaning(against)}`;
    return part && !trail.has(pair) ? probes(by, narrow, against, new Set([...trail, pair])) : [];
  };
  const dependents = Object.entries(refusing.dependentSchemas ?? {});
  const all = [
    ...(refusing.allOf ?? []).flatMap((part) => refusedBy(accepting, part)),
    ...(refusing.if ? refusedBy(under(refusing.if), refusing.then) : []),
    ...refusedBy(accepting, refusing.else),
    ...dependents.flatMap(([name, part]) => refusedBy(under({ required: [name] }), part)),
    ...(refusing.not ? refusedBy(under(refusing.not), {}) : []),
    ...(accepting.then ? [sample(by.accepting, under(accepting.then))] : []),
    ...(accepting.else ? [sample(by.accepting, under(accepting.else))] : []),
  ];
  if (!refusing.not || accepting.type !== 'object') return all;
  return [...all, sample(by.accepting, under(refusing.not))];
}

/** Returns texts whose content the first schema may accept and the second may refuse. */
function contents(by: Search, accepting: Schema, refusing: Schema, trail: Trail): unknown[] {
  if (!isJson(accepting.contentMediaType)) return [];
  const found = differences(by, accepting.contentSchema ?? {}, refusing.contentSchema ?? {}, trail);
  return found.map((value) => writeContent(accepting, value));
}

function numbers(accepting: Schema, refusing: Schema): number[] {
  const said = [accepting, refusing].flatMap((schema) => [
    schema.minimum,
    schema.maximum,
    schema.exclusiveMinimum,
    schema.exclusiveMaximum,
    schema.multipleOf,
  ]);
  const edges = [...said.filter((bound) => bound !== undefined), 0, 2 ** 31, -(2 ** 31), 2 ** 53 - 2];
  const step = accepting.multipleOf;
  const steps =
    step === undefined ? [] : edges.flatMap((edge) => [Math.floor(edge / step), Math.ceil(edge / step)]);
  return [
    ...edges.flatMap((edge) => [edge, edge - 1, edge + 1, edge - 0.5, edge + 0.5]),
    ...steps.flatMap((times) => [times - 1, times, times + 1].map((one) => one * (step ?? 1))),
  ];
}

function lists(by: Search, accepting: Schema, refusing: Schema, trail: Trail): unknown[] {
  const items = itemOf(accepting, accepting.prefixItems?.length ?? 0);
  const { minItems = 0, prefixItems = [] } = accepting;
  const made = sample(by.accepting, accepting);
  const base: readonly unknown[] = Array.isArray(made) ? made : [];
  const fill = (length: number): unknown[] => {
    const head = Array.from({ length: Math.min(length, prefixItems.length) }, (_, at) =>
      sample(by.accepting, itemOf(accepting, at)),
    );
    const rest = length - head.length;
    return [...head, ...distinct(by, items, accepting.uniqueItems ? rest : 1, rest)];
  };
  const sizes = [
    minItems,
    (refusing.minItems ?? 0) - 1,
    (refusing.maxItems ?? -2) + 1,
    accepting.maxItems ?? 0,
    prefixItems.length + 1,
    (refusing.prefixItems?.length ?? -2) + 1,
  ];
  const sized = sizes.filter((size) => size >= 0 && size <= mostItems).map(fill);
  const inner = Array.from(
    { length: Math.max(prefixItems.length, refusing.prefixItems?.length ?? 0) + 1 },
    (_, at) =>
      differences(by, itemOf(accepting, at), itemOf(refusing, at), trail).map((value) => {
        const list = base.length > at ? [...base] : fill(at + 1);
        return list.toSpliced(at, 1, value);
      }),
  ).flat();
  const item = sample(by.accepting, items);
  return [
    ...sized,
    ...inner,
    [item, item, ...fill(minItems).slice(2)],
    ...containing(by, accepting, refusing, trail),
  ];
}

/** Returns lists with as many matching items as the limits of either schema demand. */
function containing(by: Search, accepting: Schema, refusing: Schema, trail: Trail): unknown[] {
  const items = itemOf(accepting, accepting.prefixItems?.length ?? 0);
  const asked = [accepting, refusing].filter(({ contains }) => contains !== undefined);
  return asked.flatMap((schema) => {
    const contains = schema.contains ?? {};
    const fitting = sample(by.accepting, joined(by.accepting.resolve, items, contains) ?? contains);
    const others = [...differences(by, items, contains, trail), ...anything];
    const other = others.find(
      (value) => by.accepting.accepts(items, value) && !by.refusing.accepts(contains, value),
    );
    const counts = [accepting, refusing].flatMap(({ minContains = 1, maxContains = 0 }) => [
      minContains,
      maxContains,
    ]);
    const edges = new Set(counts.flatMap((count) => [count - 1, count, count + 1]));
    const usable = [...edges].filter((count) => count >= 0 && count <= mostItems);
    return usable.flatMap((count) => {
      const list = Array.from({ length: count }, () => fitting);
      return other === undefined ? [list] : [list, [...list, other]];
    });
  });
}

/** Returns a list of `length` items with `different` distinct ones. */
function distinct(by: Search, items: Schema, different: number, length: number): unknown[] {
  const schema = by.accepting.resolve(items);
  const first = sample(by.accepting, items);
  if (different <= 1) return Array.from({ length }, () => first);
  const more: unknown[] =
    typeof first === 'string'
      ? [...texts(schema, schema), ...Array.from({ length: different }, (_, at) => `${first}${at}`)]
      : typeof first === 'number'
        ? Array.from({ length: different }, (_, at) => first + at)
        : (schema.enum?.slice() ?? []);
  const usable = [...new Set([first, ...more])].filter((one) => by.accepting.accepts(items, one));
  return usable.slice(0, length);
}

function objects(by: Search, accepting: Schema, refusing: Schema, trail: Trail): unknown[] {
  const made = sample(by.accepting, accepting);
  const base = isObject(made) ? made : {};
  const withMember = (name: string, value: unknown) => ({ ...base, [name]: value });
  const names = new Set([
    ...[accepting, refusing].flatMap(({ properties = {} }) => Object.keys(properties)),
    ...(isSealed(accepting) && !accepting.patternProperties ? [] : [...free(accepting, refusing)]),
  ]);
  const members = [...names].flatMap((name) => {
    const [own, other] = [memberOf(accepting, name), memberOf(refusing, name)];
    if (isNothing(own)) return [];
    if (isNothing(other)) return [withMember(name, sample(by.accepting, own))];
    return differences(by, own, other, trail).map((value) => withMember(name, value));
  });
  return [
    base,
    ...members,
    ...withNames(by, base, accepting, refusing),
    ...counted(by, base, accepting, refusing),
  ];
}

/** Returns names that neither schema lists: an arbitrary one, and some that match their patterns. */
function free(accepting: Schema, refusing: Schema): Set<string> {
  const patterns = [accepting, refusing].flatMap(({ patternProperties = {} }) =>
    Object.keys(patternProperties),
  );
  return new Set(['other', ...patterns.flatMap((pattern) => matching(pattern).slice(0, 8))]);
}

/** Returns objects with too many names or with names that the refusing schema rejects, and with the names that trigger its dependencies. */
function withNames(by: Search, base: object, accepting: Schema, refusing: Schema): unknown[] {
  const named = (name: string) => sample(by.accepting, memberOf(accepting, name));
  const refused = refusing.propertyNames
    ? texts({ type: 'string', ...accepting.propertyNames }, refusing.propertyNames).slice(0, 200)
    : [];
  const triggers = Object.keys({ ...refusing.dependentRequired, ...refusing.dependentSchemas });
  const optional = Object.keys(accepting.properties ?? {});
  const all = Object.fromEntries([...optional, ...triggers].map((name) => [name, named(name)]));
  return [
    ...refused.map((name) => ({ ...base, [name]: named(name) })),
    ...triggers.map((name) => ({
      ...base,
      ...Object.fromEntries((accepting.dependentRequired?.[name] ?? []).map((more) => [more, named(more)])),
      [name]: named(name),
    })),
    { ...base, ...all },
  ];
}

function counted(by: Search, base: object, accepting: Schema, refusing: Schema): unknown[] {
  const counts = [(refusing.minProperties ?? 0) - 1, (refusing.maxProperties ?? -2) + 1];
  const own = Object.keys(accepting.properties ?? {}).filter((name) => !(name in base));
  return counts
    .filter((count) => count >= 0 && count <= mostItems)
    .map((count) => {
      const missing = Math.max(0, count - Object.keys(base).length);
      const names = isSealed(accepting) ? own : Array.from({ length: missing }, (_, at) => `member${at}`);
      const added = names
        .slice(0, missing)
        .map((name) => [name, sample(by.accepting, memberOf(accepting, name))]);
      return { ...base, ...(Object.fromEntries(added) as object) };
    });
}
