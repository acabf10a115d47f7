/** Uploaded bytes, and what records and headers say about them. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Operation } from '../../../generated/operations.ts';
import type { Values } from '../contract/values.ts';
import { crc32c } from './crc32c.ts';

/** Bytes, and how they are served. */
export interface Content {
  readonly bytes: Uint8Array;
  readonly type: string;
  /** Headers sent for the content to be served with, by name; null for those that were not sent. */
  readonly stored: Readonly<Record<string, string | null>>;
}

/** A content that arrived, and the members of records that follow from it. */
export interface Received {
  readonly content: Content | undefined;
  readonly told: Values;
}

/** Whether a body is neither JSON nor a form. Such a body arrives as a stream, which has to be read even if nothing uses it. */
export const isBytes = (body: unknown): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

export async function received(
  body: AsyncIterable<Uint8Array>,
  { parameters }: Operation,
  headers: IncomingHttpHeaders,
): Promise<Received> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  const kept = parameters.filter(({ in: place, name }) => place === 'header' && storedHeaders.test(name));
  const content: Content = {
    bytes: Buffer.concat(pieces),
    type: headers['content-type'] ?? 'application/octet-stream',
    stored: Object.fromEntries(kept.map(({ name }) => [name, textOf(headers[name.toLowerCase()])])),
  };
  return { content, told: { ...toldOf(content), metadata: metadataOf(headers) } };
}

/** Request headers that describe the content, not the request. */
const storedHeaders = /^(Cache-Control|Content-(Disposition|Encoding|Language))$/;

/** Returns what the members of a record say about its content. */
export function toldOf({ bytes, type }: Content): Record<string, unknown> {
  const hex = sha256(bytes).toString('hex');
  const now = new Date().toISOString();
  return {
    size: bytes.length,
    etag: `"${hex}"`,
    checksum: `sha256:${hex}`,
    hash: `sha256:${hex}`,
    content_type: type,
    last_modified: now,
    uploaded_at: now,
  };
}

/** Joins several contents into one, with the tag and the checksum of a multipart content. */
export function joined(parts: readonly Content[], type: string): Received & { readonly content: Content } {
  const bytes = Buffer.concat(parts.map((part) => part.bytes));
  const digests = Buffer.concat(parts.map((part) => sha256(part.bytes)));
  const content: Content = { bytes, type, stored: {} };
  return {
    content,
    told: {
      ...toldOf(content),
      etag: `"${sha256(digests).toString('hex')}-${parts.length}"`,
      checksum: `crc32c:${crc32c(bytes)}`,
    },
  };
}

/** Adapts the example's headers to a content, with the values of its record. */
export function contentHeaders(
  examples: Readonly<Record<string, string>>,
  { stored }: Content,
  values: Values,
): Record<string, string> {
  const told: Record<string, unknown> = {
    ETag: values['etag'],
    'Last-Modified':
      typeof values['last_modified'] === 'string'
        ? new Date(values['last_modified']).toUTCString()
        : undefined,
    ...stored,
  };
  const headers = Object.fromEntries(
    Object.entries(examples).flatMap(([name, example]) => {
      const value = /-Checksum$/.test(name) ? (values['checksum'] ?? values['hash']) : told[name];
      // `Cache-Control` is required, so it has its default when the request sent none.
      if (value === null) return name === 'Cache-Control' ? [[name, 'private, no-cache']] : [];
      return [[name, typeof value === 'string' ? value : example]];
    }),
  ) as Record<string, string>;
  const metadata = Object.entries((values['metadata'] ?? {}) as Values);
  return {
    ...headers,
    ...Object.fromEntries(metadata.map(([name, value]) => [`X-Store-Meta-${name}`, String(value)])),
  };
}

/** Metadata is sent in headers whose names are not fixed. */
function metadataOf(headers: IncomingHttpHeaders): Values {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const key = /^x-store-meta-(.+)$/.exec(name)?.[1];
      return key === undefined ? [] : [[key, textOf(value) ?? '']];
    }),
  );
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
