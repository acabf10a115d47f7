import type { Answer, EventStream, List } from '../src/runtime/answer.ts';
import { createClient } from '../src/runtime/client.ts';
import type { ClientOptions, EventOptions, RequestOptions } from '../src/runtime/options.ts';
import { resource } from '../src/runtime/resource.ts';

export interface Thing {
  id: number;
}
export type ThingEvent =
  { event: 'changed'; id?: string; data: Thing } | { event: 'token'; id?: string; data: string };

/** One operation of every kind that the runtime knows, whether or not a service has one yet. */
export interface Things {
  readonly create: (
    request: { body: { name?: string | undefined } },
    options?: RequestOptions,
  ) => Answer<Thing>;
  readonly ask: (request: { body: { question: string } }, options?: RequestOptions) => Answer<Thing>;
  readonly get: (request: { id: string; since?: string }, options?: RequestOptions) => Answer<Thing>;
  readonly put: (request: { id: string; body: Thing }, options?: RequestOptions) => Answer<Thing>;
  readonly patch: (request: { id: string; body: Thing }, options?: RequestOptions) => Answer<Thing>;
  readonly delete: (request: { id: string }, options?: RequestOptions) => Answer<void>;
  readonly head: (request: { id: string }, options?: RequestOptions) => Answer<void>;
  readonly list: (
    request?: {
      limit?: number;
      offset?: number;
      cursor?: string;
      tag?: string[];
      search?: string | undefined;
    },
    options?: RequestOptions,
  ) => List<Thing>;
  readonly listByOffset: (
    request?: { limit?: number; offset?: number },
    options?: RequestOptions,
  ) => List<Thing>;
  readonly upload: (
    request: { key: string; 'If-Match'?: string; body: BodyInit },
    options?: RequestOptions,
  ) => Answer<void>;
  readonly download: (request: { key: string }, options?: RequestOptions) => Answer<Response>;
  readonly token: (
    request: { body: { grant_type: string; scope?: string | undefined } },
    options?: RequestOptions,
  ) => Answer<Thing>;
  readonly watch: (request?: { 'Last-Event-ID'?: string }, options?: EventOptions) => EventStream<ThingEvent>;
}

export const things = (options: ClientOptions): Things =>
  resource<Things>(createClient(options), 'things.things', {
    create: { verb: 'POST', path: '/v1/things', body: 'application/json' },
    ask: { verb: 'POST', path: '/v1/things/ask', body: 'application/json', read: true },
    get: { verb: 'GET', path: '/v1/things/{id}' },
    put: { verb: 'PUT', path: '/v1/things/{id}', body: 'application/json' },
    patch: { verb: 'PATCH', path: '/v1/things/{id}', body: 'application/json' },
    delete: { verb: 'DELETE', path: '/v1/things/{id}' },
    head: { verb: 'HEAD', path: '/v1/things/{id}' },
    list: { verb: 'GET', path: '/v1/things', pages: 'cursor' },
    listByOffset: { verb: 'GET', path: '/v1/things', pages: 'offset' },
    upload: { verb: 'PUT', path: '/objects/{+key}', headers: ['If-Match'], body: 'application/octet-stream' },
    download: { verb: 'GET', path: '/objects/{+key}', unread: true },
    token: { verb: 'POST', path: '/token', body: 'application/x-www-form-urlencoded' },
    watch: {
      verb: 'GET',
      path: '/v1/things/events',
      headers: ['Last-Event-ID'],
      events: { changed: 'json', token: 'text' },
    },
  });

/** The error that a call ends with. */
export const failureOf = (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then(
    () => {
      throw new Error('the call succeeded');
    },
    (thrown: unknown) => thrown,
  );

/** Everything that an iteration gives. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
