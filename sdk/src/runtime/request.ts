import type { Operation, RequestMembers } from './operation.ts';
import type { Sendable } from './uploads.ts';

/** A request with its members in their places. */
export interface PlacedRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Sendable | AsyncIterable<Uint8Array> | undefined;
}

/**
 * Puts each member of a request where the operation expects it.
 * @throws TypeError naming a path parameter that is missing or that no URL can carry
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
  for (const [member, prefix] of Object.entries(operation.prefixed ?? {})) {
    delete query[member];
    for (const [name, value] of Object.entries(parameters[member] ?? {}))
      headers[prefix + name] = headerText(String(value));
  }
  for (const name of operation.joined ?? []) {
    const value: unknown = query[name];
    if (Array.isArray(value)) query[name] = value.length > 0 ? value.join(',') : undefined;
  }
  if (body === undefined || operation.body === undefined) return { path, query, headers, body: undefined };
  headers['Content-Type'] = (body instanceof Blob && body.type) || operation.body;
  return { path, query, headers, body: encodeBody(operation.body, body) };
}

/** Encodes one segment. URLs drop empty, `.` and `..` segments, encoded or not, so such an id would address another resource. */
function encodeSegment(name: string, value: unknown): string {
  const text = textOf(value) ?? '';
  if (text === '' || text === '.' || text === '..') {
    throw new TypeError(`${name}: ${text === '' ? 'required' : `"${text}" cannot be part of a URL`}`);
  }
  return encodeURIComponent(text);
}

/** Encodes a path and keeps its slashes, unless that would create a segment that URLs drop. */
function encodePath(name: string, value: unknown): string {
  const encoded = encodeSegment(name, value);
  const droppable = encoded.split('%2F').some((segment) => /^\.{0,2}$/.test(segment));
  return droppable ? encoded : encoded.replaceAll('%2F', '/');
}

function encodeBody(contentType: string, body: unknown): Sendable {
  if (/[/+]json$/.test(contentType)) return JSON.stringify(body);
  if (contentType === 'application/x-www-form-urlencoded' && !(body instanceof URLSearchParams)) {
    const members = Object.entries(body as RequestMembers).flatMap(([name, value]) => {
      const text = textOf(value);
      return text === undefined ? [] : [[name, text]];
    });
    return new URLSearchParams(members);
  }
  return body as Sendable;
}

/** Encodes what a header cannot carry, and what would be read as such an encoding (RFC 8187, section 3.2.1). */
const headerText = (text: string): string =>
  /^[!-~]([ -~]*[!-~])?$/.test(text) && !/^utf-8''/i.test(text) ? text : `utf-8''${encodeURIComponent(text)}`;

/** Returns the text of a parameter, or undefined when it is absent. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
