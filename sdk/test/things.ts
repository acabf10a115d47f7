import type { Answer, EventStream, List, RecordedStream } from '../src/runtime/answer.ts';
import { createClient } from '../src/runtime/client.ts';
import type { ClientOptions, EventOptions, RequestOptions } from '../src/runtime/options.ts';
import type { RawBody } from '../src/runtime/uploads.ts';
import { resource } from '../src/runtime/resource.ts';

export interface Thing {
  id: number;
}
export type ThingEvent =
  { event: 'changed'; id?: string; data: Thing } | { event: 'token'; id?: string; data: string };

export interface Wrapped {
  data: Thing[];
  pagination: { total: number; has_more: boolean };
}
export interface Marked {
  things: Thing[];
  next_cursor: string | null;
}

/** One operation of every kind that the runtime supports, whether or not a service has such an operation yet. */
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
  readonly head: (request: { key: string }, options?: RequestOptions) => Answer<Response>;
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
  readonly listWrapped: (
    request?: { limit?: number; offset?: number },
    options?: RequestOptions,
  ) => List<Thing, unknown, Wrapped>;
  readonly listMarked: (
    request?: { limit?: number; cursor?: string; tag?: string[] },
    options?: RequestOptions,
  ) => List<Thing, unknown, Marked>;
  readonly upload: (
    request: { key: string; 'If-Match'?: string; body: RawBody },
    options?: RequestOptions,
  ) => Answer<void>;
  readonly download: (request: { key: string; Range?: string }, options?: RequestOptions) => Answer<Response>;
  readonly document: (request?: { 'If-None-Match'?: string }) => Answer<Thing | undefined>;
  readonly token: (
    request: { body: { grant_type: string; scope?: string | undefined } },
    options?: RequestOptions,
  ) => Answer<Thing>;
  readonly watch: (request?: { 'Last-Event-ID'?: string }, options?: EventOptions) => EventStream<ThingEvent>;
  readonly begin: (request?: Record<never, never>, options?: EventOptions) => EventStream<ThingEvent>;
  readonly record: (
    request?: { after?: number; 'Last-Event-ID'?: string },
    options?: EventOptions,
  ) => RecordedStream<ThingEvent, Thing[]>;
}

export const things = (options: ClientOptions): Things =>
  resource<Things>(createClient(options), 'things.things', {
    create: { verb: 'POST', path: '/v1/things', body: 'application/json', creates: true },
    ask: { verb: 'POST', path: '/v1/things/ask', body: 'application/json', read: true },
    get: { verb: 'GET', path: '/v1/things/{id}' },
    put: { verb: 'PUT', path: '/v1/things/{id}', body: 'application/json' },
    patch: { verb: 'PATCH', path: '/v1/things/{id}', body: 'application/merge-patch+json' },
    delete: { verb: 'DELETE', path: '/v1/things/{id}', empty: [204] },
    head: { verb: 'HEAD', path: '/objects/{+key}', unread: true },
    list: { verb: 'GET', path: '/v1/things', pages: 'cursor' },
    listByOffset: { verb: 'GET', path: '/v1/things', pages: 'offset' },
    listWrapped: {
      verb: 'GET',
      path: '/v1/things',
      pages: 'offset',
      items: 'data',
      more: 'pagination.has_more',
    },
    listMarked: {
      verb: 'GET',
      path: '/v1/things',
      joined: ['tag'],
      pages: 'cursor',
      items: 'things',
      cursor: 'next_cursor',
    },
    upload: {
      verb: 'PUT',
      path: '/objects/{+key}',
      headers: ['If-Match'],
      body: 'application/octet-stream',
      empty: [204],
    },
    download: { verb: 'GET', path: '/objects/{+key}', headers: ['Range'], unread: true },
    document: { verb: 'GET', path: '/document', headers: ['If-None-Match'], empty: [304] },
    token: { verb: 'POST', path: '/token', body: 'application/x-www-form-urlencoded' },
    watch: {
      verb: 'GET',
      path: '/v1/things/events',
      headers: ['Last-Event-ID'],
      events: { changed: 'json', token: 'text' },
    },
    begin: { verb: 'POST', path: '/v1/things/begin', events: { changed: 'json', token: 'text' } },
    record: {
      verb: 'GET',
      path: '/v1/things/record',
      headers: ['Last-Event-ID'],
      events: { changed: 'json', token: 'text' },
      recorded: true,
    },
  });

/** Returns the error with which a call ends. */
export const failureOf = (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then(
    () => {
      throw new Error('the call succeeded');
    },
    (thrown: unknown) => thrown,
  );

/** Returns all values of an iteration. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
