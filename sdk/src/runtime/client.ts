import type { Raw } from './answer.ts';
import { attempt, type Attempt, type ReadyRequest } from './attempt.ts';
import { download } from './download.ts';
import { aborted } from './errors.ts';
import type { RequestMembers, Target } from './operation.ts';
import { onBehalfHeaders, type ClientOptions, type OnBehalf, type RequestOptions } from './options.ts';
import { placeRequest, type PlacedRequest } from './request.ts';
import { delayBefore, isRepeatable, isTransient, sleep } from './retries.ts';

/** A connection to the platform, which the services take: `authz(createClient({ … }))`. */
export interface Client {
  /** Calls an operation, and repeats the call where that is safe and may help. The methods of the services only call this. */
  send<Data>(target: Target, request: RequestMembers, options?: RequestOptions): Promise<Raw<Data>>;
  /** Does the same for an operation whose body is read later. */
  open(target: Target, request: RequestMembers, options?: RequestOptions): Promise<Attempt>;
}

const defaultTimeout = 30_000;
const defaultRetries = 2;

/** Creates a client without sending anything. */
export function createClient(options: ClientOptions): Client {
  const { timeout = defaultTimeout, retries = defaultRetries } = options;
  const fetch = options.fetch ?? ((request: Request) => globalThis.fetch(request));
  const serviceUrls: Readonly<Record<string, string | undefined>> = options.serviceUrls ?? {};
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const ownHeaders = clientHeaders(options);

  async function open(target: Target, request: RequestMembers, call: RequestOptions = {}): Promise<Attempt> {
    const placed = placeRequest(target.operation, request);
    const ready: ReadyRequest = {
      ...placed,
      target,
      baseUrl: serviceUrls[target.service] ?? `${baseUrl}/${target.service}`,
      allHeaders: requestHeaders(target, placed, ownHeaders, call),
      fetch,
      timeout: call.timeout ?? timeout,
      signal: call.signal,
    };
    return repeated(ready, call.retries ?? retries);
  }

  return {
    open,
    async send<Data>(target: Target, request: RequestMembers, call?: RequestOptions) {
      const attempt = await open(target, request, call);
      const { requestId } = attempt;
      const response = target.operation.unread ? download(attempt) : attempt.response;
      // The contract defines the data's type. The server's own tests ensure that it keeps the contract.
      return { data: (target.operation.unread ? response : attempt.data) as Data, response, requestId };
    },
  };
}

/** Repeats attempts until one succeeds, one fails permanently or the retries are used up. */
async function repeated(request: ReadyRequest, retries: number): Promise<Attempt> {
  const { target, allHeaders, body, signal } = request;
  const repeatable = isRepeatable(target.operation, allHeaders, body);
  for (let repeat = 0; ; repeat += 1) {
    try {
      return await attempt(request);
    } catch (error) {
      if (!repeatable || repeat >= retries || !isTransient(error)) throw error;
      const delay = delayBefore(repeat, error.retryAfter, Math.random());
      if (delay === undefined) throw error;
      await sleep(delay, signal).catch((reason: unknown) => {
        throw aborted(target.name, reason);
      });
    }
  }
}

/** The headers of every request: the caller's credentials, and on whose behalf the call is made. */
function clientHeaders(options: ClientOptions): Headers {
  const { token, apiKey, headers } = options;
  const all = new Headers(headers);
  if (token) all.set('Authorization', `Bearer ${token}`);
  if (apiKey) all.set('X-API-Key', apiKey);
  setOnBehalf(all, options);
  return all;
}

function setOnBehalf(headers: Headers, options: OnBehalf): void {
  for (const [option, header] of Object.entries(onBehalfHeaders)) {
    const value = options[option as keyof OnBehalf];
    if (value !== undefined) headers.set(header, value);
  }
}

/** Later headers override earlier ones: the client's, the request's own, the call's. */
function requestHeaders(
  { operation }: Target,
  placed: PlacedRequest,
  own: Headers,
  call: RequestOptions,
): Headers {
  const headers = new Headers(own);
  headers.set(
    'Accept',
    operation.events ? 'text/event-stream' : operation.unread ? '*/*' : 'application/json',
  );
  for (const [name, value] of Object.entries(placed.headers)) headers.set(name, value);
  setOnBehalf(headers, call);
  if (call.idempotencyKey !== undefined) headers.set('Idempotency-Key', call.idempotencyKey);
  for (const [name, value] of Object.entries(call.headers ?? {})) headers.set(name, value);
  if (operation.creates && !headers.has('Idempotency-Key')) headers.set('Idempotency-Key', newKey());
  return headers;
}

/** `crypto.randomUUID` is missing on pages that were not loaded over TLS. */
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
