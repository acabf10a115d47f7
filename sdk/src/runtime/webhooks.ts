/** The body of a delivery in the format `standard`. */
export interface WebhookEvent<Data = unknown> {
  /** The name of the event: `invoice.paid`. */
  readonly type: string;
  /** When the event happened. */
  readonly timestamp: string;
  readonly data: Data;
}

/** A delivery whose signature is right. */
export interface VerifiedWebhook<Event = WebhookEvent> {
  /** Equal in every repetition of the delivery, so that a receiver that remembers it handles each event once. */
  readonly id: string;
  /** When this attempt was sent. */
  readonly sentAt: Date;
  /** The parsed body. Its type is the caller's promise; the signature only says that the sender wrote it. */
  readonly event: Event;
}

/**
 * What is wrong with a delivery:
 * - `missing`: a header is absent or empty;
 * - `malformed`: a header is repeated or cannot be read;
 * - `stale`: it was sent more than five minutes ago;
 * - `future`: it was sent more than five minutes ahead of this clock;
 * - `signature`: no signature is by one of the secrets;
 * - `body`: the body is not what arrived, or what arrived is not JSON;
 * - `secret`: a secret of the receiver itself cannot be used.
 */
export type WebhookProblem = 'missing' | 'malformed' | 'stale' | 'future' | 'signature' | 'body' | 'secret';

/** The error of a delivery that must not be trusted. It contains nothing of the delivery or the secrets. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly problem: WebhookProblem;

  constructor(problem: WebhookProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/** Whether a caught value is the error of `verifyWebhook`. */
export const isWebhookError = (thrown: unknown): thrown is WebhookError =>
  // Compares the name, so that it also recognises an error of another copy of this package.
  thrown instanceof Error && thrown.name === 'WebhookError';

/**
 * The headers of a delivery: `Headers`, an object such as Node's `headers` or `headersDistinct`, pairs of name and value, or
 * Node's `rawHeaders`, in which names and values alternate.
 */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined }
  | readonly (readonly [name: string, value: string])[]
  | readonly string[];

const toleranceSeconds = 5 * 60;
/** This is longer than any header that a sender writes, and short enough to be read at no cost. */
const longestHeader = 4_096;
/** Bounds of a key in bytes, as in the Standard Webhooks specification. */
const [shortestKey, longestKey] = [24, 64];

/**
 * Checks that a delivery comes from the holder of the secret and was sent within the last five minutes (Standard Webhooks 1.0),
 * and returns its event.
 * @param rawBody the body as it arrived, before any parsing
 * @param secret `whsec_…`; several while the secret is being replaced
 * @throws WebhookError whose `problem` says what is wrong
 */
export async function verifyWebhook<Event = WebhookEvent>(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
): Promise<VerifiedWebhook<Event>> {
  const { id, seconds, signatures } = readHeaders(headers);
  checkAge(seconds);
  const keys = [secret].flat().map(keyOf);
  if (keys.length === 0) throw new WebhookError('secret', 'secret: at least one is needed');
  const prefix = new TextEncoder().encode(`${id}.${seconds}.`);
  // A copy, because the caller's bytes may change while the signature is computed.
  const signed = joined(prefix, bytesOf(rawBody));
  const expected = await Promise.all(keys.map((key) => hmac(key, signed)));
  if (!anyEqual(signatures, expected))
    throw new WebhookError('signature', 'webhook-signature: no signature is by the secret');
  return { id, sentAt: new Date(seconds * 1_000), event: parse(signed.subarray(prefix.length)) as Event };
}

function readHeaders(headers: WebhookHeaders) {
  const values = valuesOf(headers);
  const id = single(values, 'webhook-id');
  // The signed text separates its parts by full stops, so an id with a full stop would be ambiguous.
  if (!/^[\x21-\x7e]+$/.test(id) || /[.,]/.test(id)) throw malformed('webhook-id');
  const timestamp = single(values, 'webhook-timestamp');
  if (!/^(0|[1-9]\d{0,11})$/.test(timestamp)) throw malformed('webhook-timestamp');
  const signatures = single(values, 'webhook-signature').split(' ');
  // Headers that were repeated arrive joined with commas.
  if (!signatures.every((signature) => /^[^,]+,[^,]+$/.test(signature))) throw malformed('webhook-signature');
  return { id, seconds: Number(timestamp), signatures };
}

/** Returns a function that finds all values of a header by its name in lower case. */
function valuesOf(headers: WebhookHeaders): (name: string) => readonly unknown[] {
  if (typeof headers !== 'object' || headers === null)
    throw new WebhookError('missing', 'headers: must be the headers of the request');
  if (isReadByName(headers)) return (name) => [headers.get(name) ?? undefined];
  const pairs = pairsOf(headers);
  return (name) =>
    pairs
      .filter(([key]) => typeof key === 'string' && key.toLowerCase() === name)
      .flatMap(([, value]) => value);
}

/** An object of headers may have a header that is called `get`. */
const isReadByName = (headers: WebhookHeaders): headers is { get(name: string): string | null } =>
  'get' in headers && typeof headers.get === 'function';

function pairsOf(headers: object): (readonly [unknown, unknown])[] {
  if (!Array.isArray(headers)) return Object.entries(headers);
  if (headers.every((item) => Array.isArray(item))) return headers.map(([name, value]) => [name, value]);
  return headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]] as const] : []));
}

function single(values: (name: string) => readonly unknown[], name: string): string {
  const [value, ...more] = values(name).filter((one) => one !== undefined && one !== '');
  if (value === undefined) throw new WebhookError('missing', `${name}: missing`);
  if (more.length > 0 || typeof value !== 'string' || value.length > longestHeader) throw malformed(name);
  return value;
}

const malformed = (name: string) =>
  new WebhookError('malformed', `${name}: must be given once, in the form that the sender writes`);

function checkAge(seconds: number): void {
  const age = Math.floor(Date.now() / 1_000) - seconds;
  if (age > toleranceSeconds)
    throw new WebhookError('stale', 'webhook-timestamp: more than five minutes ago');
  if (age < -toleranceSeconds)
    throw new WebhookError('future', 'webhook-timestamp: more than five minutes ahead');
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const [, text] =
    /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(secret) ?? [];
  const key = text === undefined ? undefined : Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  if (key === undefined || key.length < shortestKey || key.length > longestKey)
    throw new WebhookError(
      'secret',
      `secret: must be whsec_ and the base64 of ${shortestKey} to ${longestKey} bytes`,
    );
  return key;
}

function bytesOf(body: string | Uint8Array | ArrayBuffer): Uint8Array {
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (typeof body !== 'string')
    throw new WebhookError('body', 'body: must be the raw text or bytes, before any parsing');
  // Encoding would replace half a character, and the signature would be checked against another text than the one that is parsed.
  if (/\p{Surrogate}/u.test(body)) throw new WebhookError('body', 'body: must be valid Unicode');
  return new TextEncoder().encode(body);
}

function joined(prefix: Uint8Array, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(prefix.length + body.length);
  all.set(prefix);
  all.set(body, prefix.length);
  return all;
}

async function hmac(key: Uint8Array<ArrayBuffer>, text: Uint8Array<ArrayBuffer>): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign']);
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', imported, text));
  return `v1,${btoa(String.fromCharCode(...mac))}`;
}

/** Compares every signature with every expected one, so that the time does not reveal how much of a signature is right. */
function anyEqual(signatures: readonly string[], expected: readonly string[]): boolean {
  let found = false;
  for (const signature of signatures)
    for (const one of expected) {
      let difference = signature.length ^ one.length;
      for (let at = 0; at < one.length; at++) difference |= signature.charCodeAt(at) ^ one.charCodeAt(at);
      if (difference === 0) found = true;
    }
  return found;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    // The cause is left out, because its message quotes the body.
    throw new WebhookError('body', 'body: must be JSON in UTF-8');
  }
}
