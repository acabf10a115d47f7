import type { Operation, RequestMembers } from './operation.ts';

/**
 * What an upload may be given as. Streams and iterables are read once, and as fast as they are sent; in Node a file is one:
 * `createReadStream(path)`.
 */
export type RawBody =
  | Blob
  | ArrayBuffer
  | ArrayBufferView<ArrayBuffer>
  | string
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>;

/** A request with its members in their places. */
export interface PlacedRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: BodyInit | undefined;
}

/**
 * Puts each member of a request where the operation wants it. Throws a TypeError that names a path parameter which is
 * missing or which no URL can carry.
 */
export function placeRequest(operation: Operation, request: RequestMembers): PlacedRequest {
  const { body, ...parameters } = request;
  const query: Record<string, unknown> = { ...parameters };
  const headers: Record<string, string> = {};
  const path = operation.path.replace(/\{(\+?)([^}]+)\}/g, (_, greedy: string, name: string) => {
    delete query[name];
    return (greedy ? encodePath : encodeSegment)(name, parameters[name]);
  });
  for (const name of operation.headers ?? []) {
    delete query[name];
    const value = textOf(parameters[name]);
    if (value !== undefined) headers[name] = value;
  }
  for (const name of operation.joined ?? []) {
    const value = query[name];
    if (Array.isArray(value)) query[name] = value.length > 0 ? value.join(',') : undefined;
  }
  if (body === undefined || operation.body === undefined) return { path, query, headers, body: undefined };
  headers['Content-Type'] = (body instanceof Blob && body.type) || operation.body;
  return { path, query, headers, body: encodeBody(operation.body, body) };
}

/** URLs drop empty, `.` and `..` segments, encoded or not: such an id would address another resource. */
function encodeSegment(name: string, value: unknown): string {
  const text = textOf(value) ?? '';
  if (text === '' || text === '.' || text === '..') {
    throw new TypeError(`${name}: ${text === '' ? 'required' : `"${text}" cannot be part of a URL`}`);
  }
  return encodeURIComponent(text);
}

/** Slashes stay as they are, except where that would make a segment which URLs drop. */
function encodePath(name: string, value: unknown): string {
  const encoded = encodeSegment(name, value);
  const droppable = encoded.split('%2F').some((segment) => /^\.{0,2}$/.test(segment));
  return droppable ? encoded : encoded.replaceAll('%2F', '/');
}

function encodeBody(contentType: string, body: unknown): BodyInit {
  if (/[/+]json$/.test(contentType)) return JSON.stringify(body);
  if (contentType === 'application/x-www-form-urlencoded' && !(body instanceof URLSearchParams)) {
    const members = Object.entries(body as RequestMembers).flatMap(([name, value]) => {
      const text = textOf(value);
      return text === undefined ? [] : [[name, text]];
    });
    return new URLSearchParams(members);
  }
  const isIterable = typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
  return isIterable && !(body instanceof ReadableStream)
    ? streamOf(body as AsyncIterable<Uint8Array>)
    : (body as BodyInit);
}

/** Only streams can be sent piece by piece on every platform. */
function streamOf(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel(reason) {
      await iterator.return?.(reason);
    },
  });
}

/** How a parameter is written; undefined for one that is not given. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
