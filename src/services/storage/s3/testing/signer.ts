import { randomUUID } from 'node:crypto';
import { queryPairs, uriDecode, uriEncode } from '../protocol/encoding.ts';
import { payloads } from '../signing/authorization.ts';
import { scopeText, sha256Hex, signature, signingKey, stringToSign } from '../signing/canonical.ts';

/** An access key with its secret, as `S3Credentials.create` answers it. */
export interface AccessKey {
  readonly access_key_id: string;
  readonly secret_access_key: string;
}

export interface S3TestRequest {
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
  /** What the signature says of the content; by default its hash. */
  readonly payload?: string;
  /** When the request is signed, in milliseconds. */
  readonly at?: number;
  /** The path to sign, percent-decoded, when it is not that of the URL: libraries rewrite some paths. */
  readonly signedPath?: string;
  /** Headers that are sent without a signature. */
  readonly unsigned?: Record<string, string>;
}

export interface S3TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly bytes: Buffer;
  /** The code of an error; undefined when there is none. */
  readonly code: string | undefined;
}

const basic = (at: number) => `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;

/** Signs a request as a client of S3 does. Returns the headers to send. */
export function signedHeaders(
  key: AccessKey,
  method: string,
  url: string,
  { headers = {}, body = '', payload = sha256Hex(body), at = Date.now(), signedPath }: S3TestRequest = {},
): Record<string, string> {
  const { host, pathname, search } = new URL(url);
  const time = basic(at);
  const scope = { date: time.slice(0, 8), region: 'eu-central-1' };
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const all = {
    ...Object.fromEntries(lower),
    ...{ host, 'x-amz-date': time, 'x-amz-content-sha256': payload },
  };
  const names = Object.keys(all).sort();
  const text = stringToSign(time, scope, {
    method,
    path: signedPath ?? uriDecode(pathname),
    query: queryPairs(search.slice(1)),
    rawHeaders: Object.entries(all).flat(),
    signedHeaders: names,
    payload,
  });
  const signed = signature(signingKey(key.secret_access_key, scope), text);
  const credential = `${key.access_key_id}/${scopeText(scope)}`;
  return {
    ...all,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names.join(';')}, Signature=${signed}`,
  };
}

/** Signs a URL, for a request without an `Authorization` header. */
export function signedUrl(
  key: AccessKey,
  method: string,
  url: string,
  { expires = 60, at = Date.now() }: { expires?: number; at?: number } = {},
): string {
  const { host, pathname, search } = new URL(url);
  const time = basic(at);
  const scope = { date: time.slice(0, 8), region: 'eu-central-1' };
  const parameters = Object.entries({
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${key.access_key_id}/${scopeText(scope)}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(expires),
    'X-Amz-SignedHeaders': 'host',
  });
  const query = [...queryPairs(search.slice(1)), ...parameters];
  const text = stringToSign(time, scope, {
    ...{ method, path: uriDecode(pathname), query, rawHeaders: ['host', host], signedHeaders: ['host'] },
    payload: payloads.unsigned,
  });
  const signed = signature(signingKey(key.secret_access_key, scope), text);
  const all = [...query, ['X-Amz-Signature', signed] as const];
  const written = all.map(([name, value]) => `${uriEncode(name)}=${uriEncode(value)}`).join('&');
  return `${url.split('?')[0]}?${written}`;
}

/** A client of one access key. `base` is where buckets begin. */
export const s3Client = (base: string, key: AccessKey) => ({
  async send(method: string, path: string, request: S3TestRequest = {}): Promise<S3TestResponse> {
    const url = base + path;
    const headers = { ...signedHeaders(key, method, url, request), ...request.unsigned };
    return await read(
      await fetch(url, {
        method,
        headers,
        ...(request.body !== undefined && { body: request.body as BodyInit }),
      }),
    );
  },
  url: (method: string, path: string, options?: { expires?: number; at?: number }) =>
    signedUrl(key, method, base + path, options),
});

export type S3Client = ReturnType<typeof s3Client>;

export async function read(response: Response): Promise<S3TestResponse> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = bytes.toString('utf8');
  const { status, headers } = response;
  return { status, headers, text, bytes, code: /<Code>(.*?)<\/Code>/.exec(text)?.[1] };
}

/** A name that no other test has. */
export const newName = (): string => `b-${randomUUID()}`;
