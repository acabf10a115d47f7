/** Compares what clients send: everything accepted before must still be accepted, with the same meaning. */
import type { Break, Draft, Request } from './break.ts';
import type { Operation, Parameter, Schema } from './document.ts';
import type { Judge, Texts } from './judge.ts';
import { ofType } from './mediatypes.ts';
import { changedDefault, type Finding, type Pair } from './pair.ts';
import { within } from './reasons.ts';
import { remaining, unjudged } from './remains.ts';
import { sample } from './sample.ts';
import { credentials, redefined } from './security.ts';
import { styleOf, textOf, textsOf } from './wire.ts';

const ignored = 'was read, now ignored';
const unlike = 'is valid as before, and means something else';

export function compareRequests(pair: Pair, before: Operation, after: Operation): Break[] {
  const request = requestOf(pair.before, before);
  const drafts = [
    ...access(before, after, request),
    ...parameters(pair, before, after, request),
    ...body(pair, before, after, request),
    ...remaining('operation', unjudged(before.others, after.others, ['x-tolerant'])),
  ];
  return drafts.map((draft) => ({
    ...{ operation: before.name, certain: true, outcome: 'was valid, now 400', request },
    cause: `${before.name} ${draft.place} ${draft.change}`,
    ...draft,
  }));
}

/** Builds the smallest request that the operation accepts. */
export function requestOf(judge: Judge, operation: Operation): Request {
  const [contentType, schema] = Object.entries(operation.body?.content ?? {})[0] ?? [];
  const bare: Request = { method: operation.verb, path: operation.path, query: {}, headers: {} };
  const request = operation.parameters
    .filter((parameter) => parameter.required)
    .reduce((made, one) => withParameter(made, one, textOf(sample(judge, one.schema)) ?? ''), bare);
  if (contentType === undefined || !operation.body?.required) return request;
  return { ...request, contentType, body: sample(judge, schema ?? {}) };
}

function withParameter(
  request: Request,
  { name, in: where, 'x-greedy': greedy }: Parameter,
  text: string,
): Request {
  if (where === 'query') return { ...request, query: { ...request.query, [name]: text } };
  if (where === 'header') return { ...request, headers: { ...request.headers, [name]: text } };
  const segment = greedy ? encodeURIComponent(text).replaceAll('%2F', '/') : encodeURIComponent(text);
  return { ...request, path: request.path.replace(`{${name}}`, () => segment) };
}

function access(before: Operation, after: Operation, request: Request): Draft[] {
  const limit: Draft = {
    place: 'body',
    change: 'limit',
    message: `must have at most ${after.limit} bytes, a body of ${before.limit} was taken`,
    outcome: 'with a body of that size was valid, now 413',
  };
  const lowered = before.body && after.body && after.limit < before.limit;
  const strict = before.others['x-tolerant'] === true && after.others['x-tolerant'] !== true;
  return [
    ...credentials(before, after, request),
    ...redefined(before, after, request),
    ...(lowered ? [limit] : []),
    ...(strict
      ? [{ ...unknownQuery, request: { ...request, query: { ...request.query, other: 'text' } } }]
      : []),
  ];
}

const unknownQuery = { place: 'query.other', change: 'unknown', message: 'is unknown' };

const placeOf = ({ in: where, name }: Parameter): string => `${where}.${name}`;

function parameters(pair: Pair, before: Operation, after: Operation, request: Request): Draft[] {
  const old = new Map(before.parameters.map((parameter) => [parameter.key, parameter]));
  const now = new Map(after.parameters.map((parameter) => [parameter.key, parameter]));
  const gone = before.parameters.filter(({ key }) => !now.has(key));
  const added = after.parameters.filter(({ key, required }) => required && !old.get(key)?.required);
  return [
    ...gone.map((parameter) => ({
      place: placeOf(parameter),
      change: 'removed',
      ...(parameter.in === 'header'
        ? { message: 'is no longer read', outcome: ignored }
        : { message: 'is unknown' }),
      request: withParameter(request, parameter, textOf(sample(pair.before, parameter.schema)) ?? ''),
    })),
    ...added.map((parameter) => ({ place: placeOf(parameter), change: 'required', message: 'is required' })),
    ...before.parameters.flatMap((parameter) => {
      const other = now.get(parameter.key);
      return other ? changed(pair, before, parameter, other, request) : [];
    }),
  ];
}

function changed(
  pair: Pair,
  operation: Operation,
  old: Parameter,
  now: Parameter,
  request: Request,
): Draft[] {
  const bare = old.in === 'path' ? { ...request, path: operation.path } : request;
  const others = operation.parameters.filter((one) => one.in === 'path' && one.name !== old.name);
  const sending = (text: string): Request =>
    (old.in === 'path' ? others : []).reduce(
      (made, one) => withParameter(made, one, textOf(sample(pair.before, one.schema)) ?? ''),
      withParameter(bare, old, text),
    );
  const place = placeOf(old);
  const taken = pair.narrowed(old.schema, readAs(pair, old, now), (value) =>
    isTextWitness(pair, old, now, value),
  );
  const meaning = changedDefault(pair.before.resolve(old.schema), pair.after.resolve(now.schema));
  const greedy = old['x-greedy'] === true && now['x-greedy'] !== true;
  return [
    ...taken.map((found) => ({
      ...{ place, change: found.keyword, message: found.message, certain: found.certain },
      cause: `${placeOf(old)} ${found.cause} ${found.keyword}`,
      ...outcomeOf(found),
      request: sending(textOf(found.value) ?? ''),
    })),
    ...(meaning !== undefined && !old.required
      ? [{ place, change: 'default', message: meaning, outcome: unlike }]
      : []),
    ...restyled(pair, old, now, sending),
    ...(greedy ? [{ place, ...slashless, request: sending('a/b') }] : []),
    ...remaining(place, unjudged(old, now, now.allowReserved ? [...ruled, 'allowReserved'] : ruled)),
  ];
}

/**
 * The members of a parameter that are compared here. Clients may always escape reserved characters. The name of a path
 * parameter is never sent.
 */
const ruled = 'name in key required schema style explode x-greedy'.split(' ');

const slashless = { change: 'greedy', message: 'must not contain a slash', outcome: 'was valid, now 404' };

function restyled(pair: Pair, old: Parameter, now: Parameter, sending: (text: string) => Request): Draft[] {
  const [was, is] = [styleOf(pair.before, old), styleOf(pair.after, now)];
  if (was === undefined && is !== undefined && !is.endsWith('exploded')) return separated(pair, old, sending);
  if (was === undefined || is === undefined || was === is) return [];
  const item = textOf(sample(pair.before, pair.before.resolve(old.schema).items ?? {})) ?? '';
  const message = `is written as ${is}, not ${was}`;
  const outcome = 'was read as a list, now otherwise';
  return [{ place: placeOf(old), change: 'style', message, outcome, request: sending(`${item},${item}`) }];
}

/** Finds the effect of a single text becoming a list: a text with a comma is now read as several values. */
function separated(pair: Pair, old: Parameter, sending: (text: string) => Request): Draft[] {
  const text = 'a,b';
  if (!pair.before.acceptsText(old.schema, text)) return [];
  const message = 'is a list now, and a comma separates its values';
  const outcome = 'was read as one text, now as several';
  return [{ place: placeOf(old), change: 'style', message, outcome, request: sending(text) }];
}

/** Returns the schema for a value now: when a single value became a list, the value is read as a list of one item. */
function readAs({ before, after }: Pair, old: Parameter, now: Parameter): Schema {
  const { items, minItems = 0 } = after.resolve(now.schema);
  return items && !before.resolve(old.schema).items && minItems <= 1 ? items : now.schema;
}

/** Returns what the server now reads when a client writes a value as before. */
function received({ before, after }: Pair, old: Parameter, now: Parameter, sent: Texts): Texts {
  const [was, is] = [styleOf(before, old), styleOf(after, now)];
  if (typeof sent === 'string')
    return is === undefined ? sent : is.endsWith('exploded') ? [sent] : sent.split(',');
  if (is !== undefined || !Array.isArray(sent)) return sent;
  return was?.endsWith('exploded') && sent.length > 1 ? sent : sent.join(',');
}

function isTextWitness(pair: Pair, old: Parameter, now: Parameter, value: unknown): boolean {
  const sent = textsOf(value);
  // An empty path segment belongs to another path, and an empty list in a query is a list with one empty text.
  if (sent === undefined || (sent === '' && old.in === 'path')) return false;
  if (Array.isArray(sent) && sent.join('') === '') return false;
  const taken = pair.before.acceptsText(old.schema, sent);
  return taken && !pair.after.acceptsText(now.schema, received(pair, old, now, sent));
}

function body(pair: Pair, before: Operation, after: Operation, request: Request): Draft[] {
  if (!before.body) {
    return after.body?.required ? [{ place: 'body', change: 'required', message: 'is required' }] : [];
  }
  const [type = '', schema = {}] = Object.entries(before.body.content)[0] ?? [];
  if (!after.body) {
    const sent = { ...request, contentType: type, body: sample(pair.before, schema) };
    return [
      { place: 'body', change: 'removed', message: 'is no longer read', request: sent, outcome: ignored },
    ];
  }
  const needed = after.body.required && !before.body.required;
  const newDefault = (old: Schema, now: Schema): Draft[] => {
    const message = before.body?.required
      ? undefined
      : changedDefault(pair.before.resolve(old), pair.after.resolve(now));
    return message === undefined ? [] : [{ place: 'body', change: 'default', message, outcome: unlike }];
  };
  const { content } = after.body;
  return [
    ...(needed ? [{ place: 'body', change: 'required', message: 'is required' }] : []),
    ...Object.entries(before.body.content).flatMap(([contentType, old]): Draft[] => {
      const now = ofType(content, contentType);
      const sending = (value: unknown): Request => ({ ...request, contentType, body: value });
      if (!now) {
        const message = `content type must be ${Object.keys(content).join(' or ')}`;
        return [
          {
            place: 'body',
            change: contentType,
            message,
            request: sending(sample(pair.before, old)),
            outcome: 'was valid, now 415',
          },
        ];
      }
      const [was, is] = [withIgnored(pair.before, old), withIgnored(pair.after, now)];
      const found = [...pair.narrowed(was, is), ...pair.defaulted(was, is)];
      return [...found.map((one) => inBody(one, sending)), ...newDefault(was, is)];
    }),
  ];
}

/** A suspicion has no outcome to show. */
const outcomeOf = ({ certain, keyword, isRemeant }: Finding): Partial<Break> => {
  if (!certain) return { outcome: '' };
  return keyword === 'default' || isRemeant ? { outcome: unlike } : {};
};

const inBody = (found: Finding, sending: (value: unknown) => Request): Draft => ({
  place: found.place.startsWith('[') ? `body${found.place}` : within('body', found.place).replace(/\.$/, ''),
  change: found.keyword,
  message: found.message,
  certain: found.certain,
  cause: `${found.cause} ${found.place} ${found.keyword}`,
  request: sending(found.value),
  ...outcomeOf(found),
});

/** Members that only the server sets are accepted and ignored, whatever their value. */
function withIgnored(judge: Judge, reference: Schema): Schema {
  const schema = judge.resolve(reference);
  const ignored = schema['x-ignored'] ?? [];
  if (ignored.length === 0) return reference;
  const any = Object.fromEntries(ignored.map((name) => [name, {}]));
  return { ...schema, properties: { ...any, ...schema.properties } };
}
