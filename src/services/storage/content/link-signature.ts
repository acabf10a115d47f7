import { createHmac, timingSafeEqual } from 'node:crypto';
import { percentEncoded } from './http-headers.ts';

/** Names and values of the query parameters of a link, without the signature. */
export type LinkParameters = Readonly<Record<string, string>>;

/** What a signature covers. */
export interface SignedRequest {
  /** A link for GET also serves HEAD. */
  readonly method: string;
  readonly key: string;
  readonly parameters: LinkParameters;
}

/** Derives the key of one bucket's links. The id of the bucket is part of it, so that the links end together with the bucket. */
export function linkKey(secret: Uint8Array, tenant: string, bucketId: string): Buffer {
  return createHmac('sha256', secret).update(`plinth-store-url-v1\n${tenant}\n${bucketId}`).digest();
}

/** The signature in lower-case hexadecimal digits. */
export function signLink(linkKey: Uint8Array, request: SignedRequest): string {
  return mac(linkKey, request).toString('hex');
}

/** Compares in constant time. */
export function isSignedLink(linkKey: Uint8Array, request: SignedRequest, signature: string): boolean {
  if (!/^[0-9a-f]{64}$/.test(signature)) return false;
  return timingSafeEqual(Buffer.from(signature, 'hex'), mac(linkKey, request));
}

const mac = (linkKey: Uint8Array, request: SignedRequest) =>
  createHmac('sha256', linkKey).update(signedText(request)).digest();

export function signedText({ method, key, parameters }: SignedRequest): string {
  return [method === 'HEAD' ? 'GET' : method, encodedKey(key), encodedQuery(parameters)].join('\n');
}

/** The key as it stands in the path of a URL. */
export const encodedKey = (key: string) => key.split('/').map(percentEncoded).join('/');

/** The parameters as they stand in the query of a URL, by name. */
export const encodedQuery = (parameters: LinkParameters) =>
  Object.entries(parameters)
    .map(([name, value]) => [percentEncoded(name), percentEncoded(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
