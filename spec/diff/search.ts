/**
 * The search for witnesses: values that one schema accepts and another refuses. It walks both schemas together and tries,
 * at each place where they differ, values at the edges of what differs.
 */
import { formsOf, isObject, isSealed, type Schema } from './document.ts';
import type { Judge } from './judge.ts';
import { meaning, type Same } from './meaning.ts';
import { reasons, typesOf, within, type Reason } from './reasons.ts';
import { sample } from './sample.ts';
import { texts } from './texts.ts';

export interface Witnessed extends Reason {
  /** Accepted by the one, refused by the other for this reason. */
  readonly value: unknown;
}

export interface Search {
  readonly accepting: Judge;
  readonly refusing: Judge;
  readonly same: Same;
  /** Differences that were found already, by the pair of schemas. */
  readonly known: Map<string, unknown[]>;
  /** Pairs inside themselves at which the search turned back; what lies between is not all there is to find. */
  readonly cuts: Set<string>;
}

export const searchBetween = (accepting: Judge, refusing: Judge, same: Same): Search => ({
  ...{ accepting, refusing, same },
  known: new Map(),
  cuts: new Set(),
});

/** The smallest witness for each reason, in the order of the reasons' places. Ajv has the last word on each. */
export function search(
  by: Search,
  accepting: Schema,
  refusing: Schema,
  holds = (value: unknown) => by.accepting.accepts(accepting, value) && !by.refusing.accepts(refusing, value),
): Witnessed[] {
  const found = differences(by, accepting, refusing, new Set()).filter(holds);
  return smallestByReason(
    found.flatMap((value) => reasons(by.refusing, refusing, value).map((reason) => ({ ...reason, value }))),
    1,
  );
}

const keyOf = ({ place, keyword }: Reason): string => `${place} ${keyword}`;
function smallestByReason(found: readonly Witnessed[], keep: number): Witnessed[] {
  const groups = Map.groupBy(found, keyOf);
  return [...groups.keys()].sort().flatMap((key) => {
    const sized = (groups.get(key) ?? []).map((one) => ({ one, text: JSON.stringify(one.value) }));
    sized.sort((a, b) => a.text.length - b.text.length);
    return sized.slice(0, keep).map(({ one }) => one);
  });
}

type Trail = ReadonlySet<string>;

function differences(by: Search, first: Schema, second: Schema, trail: Trail): unknown[] {
  if (by.same(first, second)) return [];
  const pair = `${meaning(first)} ${meaning(second)}`;
  // A pair of schemas inside itself has no difference that it did not have outside.
  if (trail.has(pair)) {
    by.cuts.add(pair);
    return [];
  }
  const found = by.known.get(pair) ?? differing(by, first, second, new Set([...trail, pair]));
  by.cuts.delete(pair);
  if (by.cuts.size === 0) by.known.set(pair, found);
  return found;
}

function differing(by: Search, first: Schema, second: Schema, deeper: Trail): unknown[] {
  const accepting = by.accepting.resolve(first);
  const refusing = by.refusing.resolve(second);
  const others = formsOf(refusing) ?? [refusing];
  const candidates = singleForms(accepting).flatMap((form) => {
    if (others.some((other) => by.same(form, other))) return [];
    const resolved = by.accepting.resolve(form);
    if (formsOf(resolved)) return differences(by, form, second, deeper);
    return others.flatMap((other) => {
      const against = by.refusing.resolve(other);
      return formsOf(against) ? differences(by, form, other, deeper) : probes(by, resolved, against, deeper);
    });
  });
  const refused = candidates.flatMap((value) =>
    reasons(by.accepting, first, value).length > 0
      ? []
      : reasons(by.refusing, second, value).map((reason) => ({ ...reason, value })),
  );
  return [...new Set(smallestByReason(refused, 8).map(({ value }) => value))];
}

/** Alternatives of a schema, and one schema a type where it has several. */
function singleForms(schema: Schema): readonly Schema[] {
  const forms = formsOf(schema);
  if (forms) return forms;
  const types = typesOf(schema) ?? [];
  return types.length > 1 ? types.map((type) => ({ ...schema, type })) : [schema];
}

function probes(by: Search, accepting: Schema, refusing: Schema, trail: Trail): unknown[] {
  const known = [sample(by.accepting, accepting), ...(accepting.examples ?? [])];
  if (accepting.enum) return [...accepting.enum];
  if ('const' in accepting) return [accepting.const];
  switch (typesOf(accepting)?.[0]) {
    case 'string':
      return [...known, ...texts(accepting, refusing)];
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
      return [...known, ...anything, ...objects(by, accepting, refusing, trail)];
  }
}

const anything: readonly unknown[] = [
  null,
  true,
  0,
  0.5,
  -1,
  '',
  'text',
  [],
  ['text'],
  {},
  { member: 'text' },
];

function numbers(accepting: Schema, refusing: Schema): number[] {
  const bounds = [accepting, refusing].flatMap((schema) => [
    schema.minimum,
    schema.maximum,
    schema.exclusiveMinimum,
    schema.exclusiveMaximum,
  ]);
  const edges = [...bounds.filter((bound) => bound !== undefined), 0, 2 ** 31, -(2 ** 31), 2 ** 53 - 2];
  return edges.flatMap((edge) => [edge, edge - 1, edge + 1, edge - 0.5, edge + 0.5]);
}

const mostItems = 20_000;

function lists(by: Search, accepting: Schema, refusing: Schema, trail: Trail): unknown[] {
  const items = accepting.items ?? {};
  const item = sample(by.accepting, items);
  const { minItems = 0 } = accepting;
  const fill = (length: number): unknown[] => distinct(by, items, accepting.uniqueItems ? length : 1, length);
  const sizes = [
    minItems,
    (refusing.minItems ?? 0) - 1,
    (refusing.maxItems ?? -2) + 1,
    accepting.maxItems ?? 0,
  ];
  const sized = sizes.filter((size) => size >= 0 && size <= mostItems).map(fill);
  const inner = differences(by, items, refusing.items ?? {}, trail).map((value) => [
    value,
    ...fill(minItems).slice(1),
  ]);
  return [...sized, ...inner, [item, item, ...fill(minItems).slice(2)]];
}

/** So many items, of which so many differ. */
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
  const own = Object.entries(accepting.properties ?? {});
  const theirs = refusing.properties ?? {};
  const others = refusing.unevaluatedProperties ?? {};
  const withMember = (name: string, value: unknown) => ({ ...base, [name]: value });
  const shared = own.flatMap(([name, property]) => {
    const other = Object.hasOwn(theirs, name) ? theirs[name] : undefined;
    if (other) return differences(by, property, other, trail).map((value) => withMember(name, value));
    if (isSealed(refusing)) return [withMember(name, sample(by.accepting, property))];
    return differences(by, property, others, trail).map((value) => withMember(name, value));
  });
  if (isSealed(accepting)) return [base, ...shared];
  const free = accepting.unevaluatedProperties ?? {};
  const names = Object.keys(theirs).filter((name) => !own.some(([known]) => known === name));
  const typed = names.flatMap((name) =>
    differences(by, free, theirs[name] ?? {}, trail).map((value) => withMember(name, value)),
  );
  const sealed = isSealed(refusing) ? [sample(by.accepting, free)] : differences(by, free, others, trail);
  const member = sample(by.accepting, free);
  const counts = [(refusing.minProperties ?? 0) - 1, (refusing.maxProperties ?? -2) + 1];
  const counted = counts
    .filter((count) => count >= 0 && count <= mostItems)
    .map((count) => {
      const missing = Math.max(0, count - Object.keys(base).length);
      const added = Array.from({ length: missing }, (_, at) => [`member${at}`, member]);
      return { ...base, ...(Object.fromEntries(added) as object) };
    });
  return [base, ...shared, ...typed, ...sealed.map((value) => withMember('other', value)), ...counted];
}

/**
 * Places where a pattern or the like changed and nothing was found: it may have become narrower in a way that the search
 * does not try.
 */
export function suspicions(
  by: Search,
  first: Schema,
  second: Schema,
  place = '',
  trail: Trail = new Set(),
): string[] {
  if (by.same(first, second)) return [];
  const pair = `${meaning(first)} ${meaning(second)}`;
  if (trail.has(pair)) return [];
  const deeper = new Set([...trail, pair]);
  const [one, other] = [by.accepting.resolve(first), by.refusing.resolve(second)];
  const [forms, others] = [formsOf(one) ?? [one], formsOf(other) ?? [other]];
  if (forms.length > 1 || others.length > 1) {
    const left = others.filter((form) => !forms.some((known) => by.same(known, form)));
    return forms
      .filter((form) => !others.some((known) => by.same(form, known)))
      .flatMap((form, at) => (left[at] ? suspicions(by, form, left[at], place, deeper) : []));
  }
  const unproved = ['pattern', 'format', 'not', 'allOf', 'contentMediaType'].filter(
    (keyword) => keyword in other && meaning(one[keyword]) !== meaning(other[keyword]) && !('enum' in one),
  );
  const own = unproved.filter((keyword) => keyword !== 'format' || typesOf(other)?.[0] === 'string');
  const members = Object.entries(one.properties ?? {}).flatMap(([name, property]) => {
    const theirs = other.properties?.[name];
    return theirs ? suspicions(by, property, theirs, within(place, name), deeper) : [];
  });
  const items = one.items && other.items ? suspicions(by, one.items, other.items, `${place}[]`, deeper) : [];
  return [...own.map((keyword) => `${place} ${keyword}`), ...members, ...items];
}
