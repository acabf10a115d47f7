/**
 * Finds what the search for witnesses cannot decide: every place where the second schema is not proved to accept everything
 * that the first accepts, so that no change of a schema goes unnoticed.
 */
import { annotations, formsOf, isNothing, isSealed, type Schema } from './document.ts';
import { isComposed } from './flat.ts';
import { areDisjoint, valuesOf } from './disjoint.ts';
import { alike, meaning } from './meaning.ts';
import { freeOf, itemOf, memberOf } from './members.ts';
import { typesOf, within } from './reasons.ts';
import { isImplied, type Takes } from './rules.ts';
import type { Search } from './search.ts';

export interface Suspicion {
  readonly place: string;
  readonly keyword: string;
  /** Set when it is more than a suspicion: values stay valid but change their meaning. */
  readonly certainly?: string;
}

type Trail = ReadonlySet<string>;

/** Returns places where the second schema may refuse what the first accepts, according to their keywords. */
export function suspicions(
  by: Search,
  first: Schema,
  second: Schema,
  place = '',
  trail: Trail = new Set(),
): Suspicion[] {
  if (by.same(first, second)) return [];
  const pair = `${meaning(first)} ${meaning(second)}`;
  if (trail.has(pair)) return [];
  const deeper = new Set([...trail, pair]);
  const [one, other] = [by.accepting.resolve(first), by.refusing.resolve(second)];
  if (isNothing(one)) return [];
  const own = remeant(by, one, other, place);
  const listed = valuesOf(one);
  if (listed) {
    const gone = listed.some(
      (value) => by.accepting.accepts(first, value) && !by.refusing.accepts(second, value),
    );
    return [...own, ...(gone ? [{ place, keyword: 'enum' }] : [])];
  }
  return [...own, ...ofParts(by, one, other, place, deeper)];
}

/** Compares parts that could not be merged into one schema. */
function ofParts(by: Search, one: Schema, other: Schema, place: string, deeper: Trail): Suspicion[] {
  if (other.allOf) {
    const { allOf, ...rest } = other;
    const asks = [rest, ...allOf].flatMap((part) => suspicions(by, one, part, place, deeper));
    return refusesTheRest(other) ? [...asks, { place, keyword: 'allOf' }] : asks;
  }
  if (one.allOf) {
    const { allOf, ...rest } = one;
    return fewest([rest, ...allOf].map((part) => suspicions(by, part, other, place, deeper)));
  }
  const [forms, others] = [formsOf(one), formsOf(other)];
  if (!forms && !others) return ofKeywords(by, one, other, place, deeper);
  const seals = [one, other].some(refusesTheRest) ? [{ place, keyword: 'unevaluatedProperties' }] : [];
  return [
    ...seals,
    ...ofForms(by, [one, forms ?? ofTypes(one)], [other, others ?? [other]], place, deeper),
    ...beside(by, one, other, place, deeper),
  ];
}

const fewest = (tried: readonly Suspicion[][]): Suspicion[] =>
  tried.reduce((least, list) => (list.length < least.length ? list : least), tried[0] ?? []);

/** Compares the keywords of the second schema beside its forms that could not be merged into them. */
function beside(by: Search, one: Schema, other: Schema, place: string, deeper: Trail): Suspicion[] {
  const { anyOf, oneOf, ...rest } = other;
  const more = anyOf && oneOf ? ofForms(by, [one, [one]], [{ oneOf }, oneOf], place, deeper) : [];
  const { anyOf: _a, oneOf: _o, ...own } = one;
  return formsOf(other) ? [...more, ...ofKeywords(by, own, rest, place, deeper)] : [];
}

const ofTypes = (schema: Schema): Schema[] =>
  (typesOf(schema) ?? []).length > 1
    ? (typesOf(schema) ?? []).map((type) => ({ ...schema, type }))
    : [schema];

/** Looks for a form that accepts each remaining form. A form without one is left to the search. */
function ofForms(
  by: Search,
  [one, forms]: readonly [Schema, readonly Schema[]],
  [other, others]: readonly [Schema, readonly Schema[]],
  place: string,
  deeper: Trail,
): Suspicion[] {
  const gone = forms.filter((form) => !others.some((known) => by.same(form, known)));
  const narrower = gone.flatMap((form) => {
    const tried = others.map((against) => suspicions(by, form, against, place, deeper));
    tried.sort((a, b) => a.length - b.length);
    const [least] = tried;
    if (!least) return [{ place, keyword: 'anyOf' }];
    // Another form may accept the value in the old meaning.
    const isOnly = tried
      .slice(1)
      .every((list) => list.some((found) => found.place === place && found.keyword === 'type'));
    return isOnly ? least : least.map(({ certainly: _, ...found }) => found);
  });
  return [...narrower, ...(isExclusive(by, one, other) ? [{ place, keyword: 'oneOf' }] : [])];
}

/** Whether new forms of a `oneOf` may refuse a value because it matches two forms. All forms count if any could match. */
function isExclusive(by: Search, one: Schema, { oneOf }: Schema): boolean {
  if (!oneOf) return false;
  const known = [...(one.oneOf ?? [])];
  const changed = oneOf.filter((form) => {
    const at = known.findIndex((old) => by.same(old, form));
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
  return changed.some((form) =>
    oneOf.some((against) => against !== form && !areDisjoint(by.refusing, form, against)),
  );
}

/** Finds keywords that change what a value means, but not which values are valid. */
function remeant(by: Search, one: Schema, other: Schema, place: string): Suspicion[] {
  const types = typesOf(one);
  const found: Suspicion[] = [];
  if (!types || types.includes('string')) {
    for (const keyword of ['contentMediaType', 'contentEncoding'] as const) {
      const [was, is] = [one[keyword], other[keyword]];
      const certainly = `is ${is}${was === undefined ? '' : `, not ${was}`}`;
      if (is !== undefined && was !== is) found.push({ place, keyword, certainly });
    }
  }
  if (by.requests && other['readOnly'] === true && one['readOnly'] !== true) {
    found.push({ place, keyword: 'readOnly', certainly: 'was read, now ignored' });
  }
  return found;
}

/** Keywords that are compared elsewhere. */
const elsewhere = new Set(
  (
    '$ref anyOf oneOf allOf default properties patternProperties items prefixItems unevaluatedProperties additionalProperties ' +
    'x-ignored deprecated $comment $defs readOnly writeOnly contentMediaType contentEncoding'
  ).split(' '),
);

/** The type of value that a keyword concerns. All other keywords concern every type. */
const about: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    string: 'minLength maxLength pattern contentSchema',
    number: 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
    array:
      'minItems maxItems uniqueItems items prefixItems contains minContains maxContains unevaluatedItems',
    object:
      'minProperties maxProperties required properties patternProperties propertyNames unevaluatedProperties ' +
      'additionalProperties dependentRequired dependentSchemas',
  }).flatMap(([type, keywords]) => keywords.split(' ').map((keyword) => [keyword, type])),
);

function ofKeywords(by: Search, one: Schema, other: Schema, place: string, deeper: Trail): Suspicion[] {
  const types = typesOf(one)?.map((type) => (type === 'integer' ? 'number' : type));
  const isOf = (type: string | undefined) => type === undefined || !types || types.includes(type);
  const takes = takesIn(by, deeper);
  const keywords = Object.keys(other).filter(
    (keyword) => !elsewhere.has(keyword) && !annotations.has(keyword) && isOf(about[keyword]),
  );
  const doubtful = keywords.filter((keyword) => !isImplied(takes, by.requests, keyword, one, other));
  return [
    ...doubtful.flatMap((keyword) =>
      keyword === 'required' ? missing(one, other, place) : [{ place, keyword }],
    ),
    ...(isOf('object') ? ofMembers(by, one, other, place, deeper) : []),
    ...(isOf('array') ? ofItems(by, one, other, place, deeper) : []),
    ...evaluated(one, other, place),
  ];
}

function takesIn(by: Search, trail: Trail): Takes {
  const forth = (wide: Schema, narrow: Schema) => suspicions(by, narrow, wide, '', trail).length === 0;
  const turned: Search = {
    ...{ accepting: by.refusing, refusing: by.accepting, requests: by.requests },
    ...{ same: (one, other) => by.same(other, one), known: new Map(), cuts: new Set() },
  };
  // Nested negations are left undecided.
  const back = (wide: Schema, narrow: Schema) =>
    !trail.has('back') && suspicions(turned, narrow, wide, '', new Set(['back'])).length === 0;
  return Object.assign(forth, { back });
}

const missing = (one: Schema, other: Schema, place: string): Suspicion[] =>
  (other.required ?? [])
    .filter((name) => !one.required?.includes(name))
    .map((name) => ({ place: within(place, name), keyword: 'required' }));

const refusesTheRest = (schema: Schema): boolean =>
  'unevaluatedItems' in schema || 'unevaluatedProperties' in schema;

/** Keywords through which members or items count as evaluated, besides those that name them. */
const evaluating = 'if then else dependentSchemas contains minContains not $dynamicRef'.split(' ');

/** If fewer members are evaluated, more are refused as unevaluated. */
const evaluated = (one: Schema, other: Schema, place: string): Suspicion[] =>
  refusesTheRest(other) && evaluating.some((keyword) => !alike(keyword, one, other))
    ? [{ place, keyword: 'unevaluatedProperties' }]
    : [];

function ofMembers(by: Search, one: Schema, other: Schema, place: string, deeper: Trail): Suspicion[] {
  const patterns = Object.keys(one.patternProperties ?? {});
  // This schema says nothing about the members that a condition evaluates.
  const rest = isComposed(one) && 'unevaluatedProperties' in one ? {} : freeOf(one);
  const isClosed = isNothing(rest);
  const own = (name: string): Schema => {
    const said = memberOf(one, name);
    return said === freeOf(one) ? rest : said;
  };
  const names = new Set([one, other].flatMap(({ properties = {} }) => Object.keys(properties)));
  const ofNames = [...names].flatMap((name) => {
    const [was, is, at] = [own(name), memberOf(other, name), within(place, name)];
    if (isNothing(by.accepting.resolve(was))) return [];
    return isNothing(is) ? [{ place: at, keyword: 'unknown' }] : suspicions(by, was, is, at, deeper);
  });
  const at = within(place, '*');
  const isSame = (pattern: string, schema: Schema) => Object.hasOwn(schema.patternProperties ?? {}, pattern);
  const ofPatterns = patterns.flatMap((pattern) => {
    const was = one.patternProperties?.[pattern] ?? {};
    // Names that match this pattern may match another pattern of the second schema, which is compared below.
    return isSame(pattern, other) ? [] : suspicions(by, was, freeOf(other), at, deeper);
  });
  const ofTheirs = Object.entries(other.patternProperties ?? {}).flatMap(([pattern, is]) => {
    const was = isSame(pattern, one) ? one.patternProperties?.[pattern] : undefined;
    if (was) return suspicions(by, was, is, at, deeper);
    if (isClosed && patterns.length === 0) return [];
    return suspicions(by, patterns.length > 0 ? {} : rest, is, at, deeper).map((found) => ({
      ...found,
      place,
      keyword: 'patternProperties',
    }));
  });
  const ofOthers = isClosed
    ? []
    : isSealed(other)
      ? [{ place: within(place, 'other'), keyword: 'unknown' }]
      : suspicions(by, rest, freeOf(other), at, deeper);
  return [...ofNames, ...ofPatterns, ...ofTheirs, ...ofOthers];
}

function ofItems(by: Search, one: Schema, other: Schema, place: string, deeper: Trail): Suspicion[] {
  const length = Math.max(one.prefixItems?.length ?? 0, other.prefixItems?.length ?? 0);
  const most = one.maxItems ?? Infinity;
  return Array.from({ length: length + 1 }, (_, at) => at)
    .filter((at) => at < most)
    .flatMap((at) => suspicions(by, itemOf(one, at), itemOf(other, at), `${place}[]`, deeper));
}
