/** What clients send: whatever was accepted must be accepted still, and mean the same. */
import { lostScheme, shutOut } from './access.ts';
import type { Break, Request } from './break.ts';
import type { Operation, Parameter, Schema } from './document.ts';
import type { Judge } from './judge.ts';
import { changedDefault, type Finding, type Pair } from './pair.ts';
import { within } from './reasons.ts';
import { sample } from './sample.ts';

type Draft = Pick<Break, 'place' | 'change' | 'message'> & Partial<Break>;

const ignored = 'was read, now ignored';
const unlike = 'is valid as before, and means something else';

export function compareRequests(pair: Pair, before: Operation, after: Operation): Break[] {
  const request = requestOf(pair.before, before);
  const drafts = [
    ...access(before, after, request),
    ...parameters(pair, before, after, request),
    ...body(pair, before, after, request),
  ];
  return drafts.map((draft) => ({
    ...{ operation: before.name, certain: true, outcome: 'was valid, now 400', request },
    cause: `${before.name} ${draft.place} ${draft.change}`,
    ...draft,
  }));
}

/** The smallest request that the operation accepts. */
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

/** As it is written in a path, a query or a header; undefined for what cannot be. */
export function textOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map((item) => textOf(item) ?? '').join(',');
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function access(before: Operation, after: Operation, request: Request): Draft[] {
  const limit: Draft = {
    place: 'body',
    change: 'limit',
    message: `must have at most ${after.limit} bytes, a body of ${before.limit} was taken`,
    outcome: 'with a body of that size was valid, now 413',
  };
  const lowered = before.body && after.body && after.limit < before.limit;
  return [...credentials(before, after, request), ...(lowered ? [limit] : [])];
}

function credentials(before: Operation, after: Operation, request: Request): Draft[] {
  const as = (credential: string): Request => ({
    ...request,
    headers: { ...request.headers, Authorization: `<${credential}>` },
  });
  const caller = shutOut(before, after);
  if (caller !== undefined) {
    const place = { place: 'access', change: after.access, cause: `access ${before.access} ${after.access}` };
    const message = `refuses ${caller}: it needs ${after.access}, not ${before.access}`;
    return [{ ...place, message, outcome: 'was let in, now 401 or 403', request: as(caller) }];
  }
  const scheme = lostScheme(before, after);
  if (scheme === undefined) return [];
  const change = scheme.replaceAll(' ', '-');
  const message = `${scheme} is no longer enough`;
  const cause = `security ${scheme}`;
  return [{ place: 'security', change, message, cause, outcome: 'was let in, now 401', request: as(scheme) }];
}

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
  const taken = pair.narrowed(old.schema, now.schema, (value) => isTextWitness(pair, old, now, value));
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
  ];
}

const slashless = { change: 'greedy', message: 'must not contain a slash', outcome: 'was valid, now 404' };

function restyled(pair: Pair, old: Parameter, now: Parameter, sending: (text: string) => Request): Draft[] {
  const [was, is] = [styleOf(pair.before, old), styleOf(pair.after, now)];
  if (was === undefined || is === undefined || was === is) return [];
  const item = textOf(sample(pair.before, pair.before.resolve(old.schema).items ?? {})) ?? '';
  const message = `is written as ${is}, not ${was}`;
  const outcome = 'was read as a list, now otherwise';
  return [{ place: placeOf(old), change: 'style', message, outcome, request: sending(`${item},${item}`) }];
}

/** How a list is written; undefined for what is one text in any style. */
function styleOf(judge: Judge, parameter: Parameter): string | undefined {
  if (!judge.resolve(parameter.schema).items) return undefined;
  const { style = parameter.in === 'query' ? 'form' : 'simple', explode = style === 'form' } = parameter;
  return `${style}${explode ? ' exploded' : ''}`;
}

function isTextWitness(pair: Pair, old: Parameter, now: Parameter, value: unknown): boolean {
  const text = textOf(value);
  // An empty path segment is another path, and an empty list in a query is a list of one empty text.
  if (text === undefined || (text === '' && (old.in === 'path' || Array.isArray(value)))) return false;
  const sent = Array.isArray(value) ? value.map((item) => textOf(item) ?? '') : text;
  return pair.before.acceptsText(old.schema, sent) && !pair.after.acceptsText(now.schema, sent);
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
  const { content } = after.body;
  return [
    ...(needed ? [{ place: 'body', change: 'required', message: 'is required' }] : []),
    ...Object.entries(before.body.content).flatMap(([contentType, old]): Draft[] => {
      const now = content[contentType] ?? content['*/*'];
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
      return [...pair.narrowed(was, is), ...pair.defaulted(was, is)].map((found) => inBody(found, sending));
    }),
  ];
}

/** What is only suspected has no outcome to show. */
const outcomeOf = ({ certain, keyword }: Finding): Partial<Break> =>
  certain ? (keyword === 'default' ? { outcome: unlike } : {}) : { outcome: '' };

const inBody = (found: Finding, sending: (value: unknown) => Request): Draft => ({
  place: found.place.startsWith('[') ? `body${found.place}` : within('body', found.place).replace(/\.$/, ''),
  change: found.keyword,
  message: found.message,
  certain: found.certain,
  cause: `${found.cause} ${found.place} ${found.keyword}`,
  request: sending(found.value),
  ...outcomeOf(found),
});

/** The members that the server sets itself are taken and ignored, whatever they are. */
function withIgnored(judge: Judge, reference: Schema): Schema {
  const schema = judge.resolve(reference);
  const ignored = schema['x-ignored'] ?? [];
  if (ignored.length === 0) return reference;
  const any = Object.fromEntries(ignored.map((name) => [name, {}]));
  return { ...schema, properties: { ...any, ...schema.properties } };
}
