import type { Operation, RequestMembers } from './operation.ts';

/** A request with its members in their places. */
export interface PlacedRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: BodyInit | AsyncIterable<Uint8Array> | undefined;
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
    const value: unknown = query[name];
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
  return body as BodyInit;
}

/** How a parameter is written; undefined for one that is not given. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
