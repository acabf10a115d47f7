/** Two documents side by side. Findings between two of their schemas are computed once for all places that use them. */
import { formsOf, type Document, type Schema, type Schemas } from './document.ts';
import { judgeOf, type Judge } from './judge.ts';
import { meaning, sameMeaning } from './meaning.ts';
import { typesOf, within } from './reasons.ts';
import { sample } from './sample.ts';
import { search, searchBetween, type Search, type Witnessed } from './search.ts';
import { same } from './values.ts';
import { suspicions } from './suspicions.ts';
import { answeredBy, readFrom, sentBy, takenFrom, type View } from './views.ts';

export interface Finding extends Witnessed {
  readonly certain: boolean;
  /** The two schemas and the place within them, for findings that recur. */
  readonly cause: string;
  /** Whether the value stays valid but has a different meaning. */
  readonly isRemeant?: boolean;
}

type Both = (value: unknown) => boolean;

export interface Pair {
  readonly before: Judge;
  readonly after: Judge;
  /** Finds values that could be sent and no longer can. `holds` narrows which values count. */
  narrowed(before: Schema, after: Schema, holds?: Both): Finding[];
  /** Finds values that can be answered now and could not before. */
  widened(before: Schema, after: Schema, holds?: Both): Finding[];
  /** Finds members whose absence has a different meaning now. */
  defaulted(before: Schema, after: Schema): Finding[];
}

export function pairOf(before: Document, after: Document): Pair {
  const [old, now] = [before.components?.schemas ?? {}, after.components?.schemas ?? {}];
  const requests = directionOf(old, now, sentBy, takenFrom, true);
  const answers = directionOf(now, old, answeredBy, readFrom, false);
  const known = new Map<string, Finding[]>();
  const once = (kind: string, one: Schema, other: Schema, find: (cause: string) => Finding[]): Finding[] => {
    const cause = `${kind} ${meaning(one)} ${meaning(other)}`;
    const found = known.get(cause) ?? find(cause);
    known.set(cause, found);
    return found;
  };
  return {
    before: requests.by.accepting,
    after: requests.by.refusing,
    narrowed: (one, other, holds) =>
      holds
        ? requests.between(one, other, `text ${meaning(one)} ${meaning(other)}`, holds)
        : once('request', one, other, (cause) => requests.between(one, other, cause)),
    widened: (one, other, holds) =>
      holds
        ? answers.between(other, one, `text ${meaning(other)} ${meaning(one)}`, holds)
        : once('answer', other, one, (cause) => answers.between(other, one, cause)),
    defaulted: (one, other) =>
      once('default', one, other, (cause) =>
        defaults(requests.by, one, other, '', new Set()).map((found) => ({ ...found, certain: true, cause })),
      ),
  };
}

interface Direction {
  readonly by: Search;
  between(one: Schema, other: Schema, cause: string, holds?: Both): Finding[];
}

/** Builds one direction: the writer's view of the first schemas, and the reader's view of the others. */
function directionOf(from: Schemas, to: Schemas, write: View, read: View, isRequest: boolean): Direction {
  const [written, taken] = [viewed(write, from), viewed(read, to)];
  const by = searchBetween(judgeOf(written), judgeOf(taken), sameMeaning(written, taken), isRequest);
  const views = new Map<View, WeakMap<Schema, Schema>>([
    [write, new WeakMap()],
    [read, new WeakMap()],
  ]);
  const view = (how: View, schema: Schema): Schema => {
    const found = views.get(how)?.get(schema) ?? how(schema);
    views.get(how)?.set(schema, found);
    return found;
  };
  return {
    by,
    between: (one, other, cause, holds) => between(by, view(write, one), view(read, other), cause, holds),
  };
}

const viewed = (view: View, schemas: Schemas): Schemas =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, view(schema)]));

function between(by: Search, accepting: Schema, refusing: Schema, cause: string, holds?: Both): Finding[] {
  const found = search(by, accepting, refusing, holds);
  const suspected = suspicions(by, accepting, refusing).filter(
    ({ place, keyword }) =>
      !found.some((one) => explains(one, place, keyword)) &&
      !(holds && keyword === 'type' && takesAnyText(by.refusing, refusing, place)),
  );
  const perhaps = suspected.filter(
    ({ place, keyword }, at) =>
      suspected.findIndex((one) => one.place === place && one.keyword === keyword) === at,
  );
  const value = perhaps.length > 0 ? sample(by.accepting, accepting) : undefined;
  return [
    ...found.map((one) => ({ ...one, certain: true, cause })),
    ...perhaps.map(({ place, keyword, certainly }) => ({
      ...{ place, keyword, value, certain: certainly !== undefined, cause },
      message: certainly ?? 'changed, and no value was found that shows a difference',
      ...(certainly !== undefined && { isRemeant: true }),
    })),
  ];
}

/** Whether values are always texts there and the schema accepts any text, including numbers and booleans in text form. */
function takesAnyText(judge: Judge, reference: Schema, place: string): boolean {
  const whole = judge.resolve(reference);
  const schema = place === '' ? whole : judge.resolve(whole.properties?.[place] ?? {});
  return (
    (typesOf(schema)?.includes('string') ?? false) &&
    !['pattern', 'format', 'minLength', 'maxLength', 'enum', 'const', 'not', 'allOf'].some(
      (one) => one in schema,
    )
  );
}

/** Whether a finding at a place explains a suspicion there. For a removed form, any finding within it does. */
const explains = (found: Witnessed, place: string, keyword: string): boolean =>
  found.place === place || (keyword === 'anyOf' && found.place.startsWith(place));

/** Walks the members of both schemas. For each changed default, builds the smallest value without the member. */
function defaults(
  by: Search,
  first: Schema,
  second: Schema,
  place: string,
  trail: ReadonlySet<string>,
): Witnessed[] {
  const pair = `${meaning(first)} ${meaning(second)}`;
  if (by.same(first, second) || trail.has(pair)) return [];
  const deeper = new Set([...trail, pair]);
  const [one, other] = [by.accepting.resolve(first), by.refusing.resolve(second)];
  const forms = formsOf(one);
  if (forms) {
    return forms.flatMap((form, at) => {
      const theirs = formsOf(other)?.[at];
      return theirs ? defaults(by, form, theirs, place, deeper) : [];
    });
  }
  if (one.items && other.items) {
    return defaults(by, one.items, other.items, `${place}[]`, deeper).map((found) => ({
      ...found,
      value: [found.value],
    }));
  }
  const base = sample(by.accepting, first);
  return Object.entries(one.properties ?? {}).flatMap(([name, property]) => {
    const theirs = other.properties?.[name];
    if (!theirs) return [];
    const inner = defaults(by, property, theirs, within(place, name), deeper).map((found) => ({
      ...found,
      value: { ...(base as object), [name]: found.value },
    }));
    const message = changedDefault(by.accepting.resolve(property), by.refusing.resolve(theirs));
    return message === undefined
      ? inner
      : [...inner, { place: within(place, name), keyword: 'default', message, value: base }];
  });
}

/** Returns what absence means now if it meant something else before. A new default only defines what was undefined before. */
export function changedDefault(before: Schema, after: Schema): string | undefined {
  if (!('default' in before) || same(before.default, after.default)) return undefined;
  const now = 'default' in after ? JSON.stringify(after.default) : 'nothing in particular';
  return `absent now means ${now}, not ${JSON.stringify(before.default)}`;
}
