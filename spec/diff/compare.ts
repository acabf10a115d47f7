/**
 * The breaking changes between two OpenAPI documents. A change breaks if a client that was correct before is refused or
 * misunderstood, or receives an answer that the old contract excluded.
 *
 *     what changed                                    breaks            shown by
 *     operation, path or its other spelling removed   yes               a request that was answered
 *     new path that takes a value of an older one     yes               that value
 *     access or ways to authenticate that shut out    yes               a credential that was enough
 *     body limit lowered                              yes               its size
 *     parameter removed                               yes               a request with it
 *     parameter or body newly required                yes               a request without it
 *     value, member or content type newly refused     yes               a value that was accepted
 *     member no longer ignored                        yes               a body with it
 *     greedy path parameter no longer greedy          yes               a path with a slash
 *     list in a parameter written otherwise           yes               a list as it was written
 *     default changed or dropped                      yes               a request that leaves it out
 *     member made read-only                           yes               a body with it, which is ignored now
 *     text that is to hold another content            yes               the text, which is read as something else
 *     default added                                   no: it was open before
 *     parameter, member, value, content type added    no
 *
 *     success status removed                          yes               the answer that never comes again
 *     success status added                            perhaps           the answer; 206 and 304 are asked for: no
 *     error status added or removed                   no
 *     content type of an answer removed               yes               the answer in it
 *     header that was always there may be absent      yes               an answer without it
 *     header that might be absent removed             no
 *     member that was always there may be absent      yes               an answer without it
 *     member that might be absent removed             no
 *     member added, sealed or not                     no: clients ignore what they do not know
 *     type, bound, pattern, enum, null widened        yes               an answer that was impossible
 *     member made write-only                          as removed
 *     event, message or webhook removed               yes               the one that never comes again
 *     event, message or webhook added                 no: clients do not listen to it
 *
 *     operation id changed                            perhaps: the method of the SDK has another name
 *     credential that is sent otherwise               yes               a request with it
 *     scope that can no longer be asked for           yes               a request for it
 *     anything else that differs                      perhaps: no change passes in silence; in a schema, each keyword
 *                                                     by which less may be valid and for which nothing was found
 *     descriptions, examples, tags, names of path parameters and schemas     no
 *
 * The tables of `catalogue/` give a verdict on every change that oasdiff has a name for, under that name.
 */
import { compareAnswers } from './answers.ts';
import type { Break } from './break.ts';
import { operationsOf, type Document, type Operation } from './document.ts';
import { meaning } from './meaning.ts';
import { normal } from './normal.ts';
import { pairOf, type Pair } from './pair.ts';
import { remaining, unjudged } from './remains.ts';
import { compareRequests, requestOf } from './requests.ts';

export function compare(was: Document, is: Document): Break[] {
  if (meaning(was) === meaning(is)) return [];
  const [before, after] = [normal(was), normal(is)];
  const pair = pairOf(before, after);
  const old = operationsOf(before);
  const now = new Map(operationsOf(after).flatMap((one) => one.routes.map((route) => [plain(route), one])));
  const known = new Set(old.flatMap((one) => one.routes.map(plain)));
  const added = [...now].filter(([route]) => !known.has(route));
  const asides = unjudged(was, is, [
    'openapi',
    'info',
    'paths',
    'components',
    'security',
    'servers',
    'jsonSchemaDialect',
  ]);
  return [
    ...asides.flatMap((name) => (name === 'webhooks' ? webhooks(was, is) : ofDocument(name))),
    ...old.flatMap((operation) => {
      const routes = operation.routes.map((route) => now.get(plain(route)));
      const successor = routes.find((found) => found !== undefined);
      return [
        ...gone(pair, operation, routes),
        ...(successor ? changes(pair, operation, successor) : []),
        ...added.flatMap(([route, { name }]) => shadowed(pair, operation, route, name)),
      ];
    }),
  ];
}

/** Returns breaks of the document as a whole, such as changes to the requests that its service sends itself. */
const ofDocument = (name: string): Break[] =>
  remaining('document', [name]).map((draft) => ({
    ...{ operation: 'document', certain: false, outcome: '', cause: name },
    ...draft,
    request: { method: name, path: '', query: {}, headers: {} },
  }));

/** Compares the requests that the service sends itself. A receiver would wait for a removed one for ever. */
function webhooks({ webhooks: was = {} }: Document, { webhooks: is = {} }: Document): Break[] {
  const changed = Object.keys(was).filter((name) => meaning(was[name]) !== meaning(is[name]));
  return changed.map((name) => ({
    ...{ operation: 'document', place: `webhook.${name}`, cause: `webhook ${name}` },
    ...(name in is
      ? { change: 'changed', message: 'is sent otherwise than before', certain: false, outcome: '' }
      : { change: 'removed', message: 'was sent, now never', certain: true, outcome: 'used to be sent' }),
    request: { method: 'webhook', path: name, query: {}, headers: {} },
  }));
}

const plain = (route: string): string => route.replaceAll('{+}', '{}');

/** A place can be reached through several forms of a schema; one witness is enough. */
function changes(pair: Pair, before: Operation, after: Operation): Break[] {
  const found = [
    ...renamed(pair, before, after),
    ...compareRequests(pair, before, after),
    ...compareAnswers(pair, before, after),
  ];
  const names = found.map(({ place, change }) => `${place} ${change}`);
  return found.filter(({ place, change }, at) => names.indexOf(`${place} ${change}`) === at);
}

function gone(pair: Pair, operation: Operation, routes: readonly (Operation | undefined)[]): Break[] {
  const request = requestOf(pair.before, operation);
  return routes.flatMap((found, at) => {
    if (found) return [];
    const [place, path] =
      at === 0 ? ['operation', request.path] : ['alias', plain(operation.routes[at] ?? '')];
    const cause = `${operation.name} ${place}`;
    return [
      {
        ...{
          operation: operation.name,
          place,
          change: 'removed',
          message: 'is not there',
          certain: true,
          cause,
        },
        outcome: 'was answered, now 404',
        request: { ...request, path: at === 0 ? path : path.slice(path.indexOf(' ') + 1) },
      },
    ];
  });
}

function renamed(pair: Pair, before: Operation, after: Operation): Break[] {
  if (before.id === after.id) return [];
  return [
    {
      ...{ operation: before.name, place: 'operation', change: 'id', certain: false, outcome: '' },
      message: `is called ${after.id}, not ${before.id}: the method of the SDK has another name`,
      cause: `${before.name} id`,
      request: requestOf(pair.before, before),
    },
  ];
}

/** Static paths take precedence, so a new one takes a value away from the parameter of an older operation. */
function shadowed(pair: Pair, operation: Operation, route: string, name: string): Break[] {
  const theirs = route.split('/');
  const own = plain(operation.routes[0] ?? '').split('/');
  const greedy = operation.routes[0]?.includes('{+}') ?? false;
  if (theirs.length !== own.length || greedy) return [];
  const taken: { at: number; text: string }[] = [];
  for (const [at, segment] of own.entries()) {
    const text = theirs[at] ?? '';
    if (segment === text) continue;
    if (segment !== '{}') return [];
    taken.push({ at: own.slice(0, at).filter((one) => one.includes('{}')).length, text });
  }
  const parameters = taken.map(({ at }) => operation.parameters.find(({ key }) => key === `path ${at}`));
  const accepted = taken.every(({ text }, index) =>
    pair.before.acceptsText(parameters[index]?.schema ?? {}, text),
  );
  const [first] = parameters;
  const request = requestOf(pair.before, operation);
  const segments = request.path.split('/');
  const filled = (segment: string, at: number) => (segment === '{}' ? segments[at + 1] : segment);
  if (!accepted || !first) return [];
  return [
    {
      ...{ operation: operation.name, place: `path.${first.name}`, change: 'shadowed', certain: true },
      message: `${JSON.stringify(taken[0]?.text)} now means ${name}`,
      outcome: 'was this operation, now another',
      cause: `${operation.name} ${route}`,
      request: { ...request, path: ['', ...theirs.slice(1).map(filled)].join('/') },
    },
  ];
}
