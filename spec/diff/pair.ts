/** Two documents side by side, and what is found between two of their schemas, once for all places that use them. */
import { formsOf, type Document, type Schema } from './document.ts';
import { judgeOf, type Judge } from './judge.ts';
import { meaning, opened, sameMeaning } from './meaning.ts';
import { within } from './reasons.ts';
import { sample } from './sample.ts';
import { search, searchBetween, suspicions, type Search, type Witnessed } from './search.ts';

export interface Finding extends Witnessed {
  readonly certain: boolean;
  /** The two schemas and the place in them, for findings that recur. */
  readonly cause: string;
}

type Both = (value: unknown) => boolean;

export interface Pair {
  readonly before: Judge;
  readonly after: Judge;
  /** Values that could be sent and no longer can; `holds` narrows what counts as such. */
  narrowed(before: Schema, after: Schema, holds?: Both): Finding[];
  /** Values that can be answered and could not. */
  widened(before: Schema, after: Schema, holds?: Both): Finding[];
  /** Members whose absence means something else now. */
  defaulted(before: Schema, after: Schema): Finding[];
}

export function pairOf(before: Document, after: Document): Pair {
  const [old, now] = [before.components?.schemas ?? {}, after.components?.schemas ?? {}];
  const read = opened(old);
  const requests = searchBetween(judgeOf(old), judgeOf(now), sameMeaning(old, now));
  const sameAnswer = sameMeaning(opened(now), read);
  const views = new WeakMap<Schema, Schema>();
  const view = (schema: Schema): Schema => {
    const found = views.get(schema) ?? opened(schema);
    views.set(schema, found);
    return found;
  };
  const answers = searchBetween(requests.refusing, judgeOf(read), (one, other) =>
    sameAnswer(view(one), view(other)),
  );
  const known = new Map<string, Finding[]>();
  const once = (kind: string, one: Schema, other: Schema, find: (cause: string) => Finding[]): Finding[] => {
    const cause = `${kind} ${meaning(one)} ${meaning(other)}`;
    const found = known.get(cause) ?? find(cause);
    known.set(cause, found);
    return found;
  };
  return {
    before: requests.accepting,
    after: requests.refusing,
    narrowed: (one, other, holds) =>
      holds
        ? between(requests, one, other, `text ${meaning(one)} ${meaning(other)}`, holds)
        : once('request', one, other, (cause) => between(requests, one, other, cause)),
    widened: (one, other, holds) =>
      holds
        ? between(answers, other, opened(one), `text ${meaning(other)} ${meaning(one)}`, holds)
        : once('answer', other, one, (cause) => between(answers, other, opened(one), cause)),
    defaulted: (one, other) =>
      once('default', one, other, (cause) =>
        defaults(requests, one, other, '', new Set()).map((found) => ({ ...found, certain: true, cause })),
      ),
  };
}

function between(by: Search, accepting: Schema, refusing: Schema, cause: string, holds?: Both): Finding[] {
  const found = search(by, accepting, refusing, holds);
  const perhaps = [...new Set(suspicions(by, accepting, refusing))]
    .map((name) => ({
      place: name.slice(0, name.lastIndexOf(' ')),
      keyword: name.slice(name.lastIndexOf(' ') + 1),
    }))
    .filter(({ place }) => !found.some((one) => one.place === place));
  const value = perhaps.length > 0 ? sample(by.accepting, accepting) : undefined;
  return [
    ...found.map((one) => ({ ...one, certain: true, cause })),
    ...perhaps.map(({ place, keyword }) => ({
      ...{ place, keyword, value, certain: false, cause },
      message: 'changed, and no value was found that shows a difference',
    })),
  ];
}

/** Walks the members of both, building for each changed default the smallest value that leaves the member out. */
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

/** What absence means now, where it meant something else. A default that is new says what was left open before. */
export function changedDefault(before: Schema, after: Schema): string | undefined {
  if (!('default' in before) || meaning(before.default) === meaning(after.default)) return undefined;
  const now = 'default' in after ? JSON.stringify(after.default) : 'nothing in particular';
  return `absent now means ${now}, not ${JSON.stringify(before.default)}`;
}
