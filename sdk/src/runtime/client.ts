import type { Raw } from './answer.ts';
import { attempt, type Attempt, type ReadyRequest } from './attempt.ts';
import { aborted } from './errors.ts';
import type { RequestMembers, Target } from './operation.ts';
import { optionHeaders, type ClientOptions, type RequestOptions } from './options.ts';
import { placeRequest, type PlacedRequest } from './request.ts';
import { delayBefore, isRepeatable, isTransient, sleep } from './retries.ts';

/** A connection to the platform; the services take it: `authz(createClient({ … }))`. */
export interface Client {
  /** Calls an operation, again where that is safe and may help. The methods of the services do nothing else. */
  send<Data>(target: Target, request: RequestMembers, options?: RequestOptions): Promise<Raw<Data>>;
  /** The same for an operation whose body is read later. */
  open(target: Target, request: RequestMembers, options?: RequestOptions): Promise<Attempt>;
}

const defaultTimeout = 30_000;
const defaultRetries = 2;

/** Makes a client; nothing is sent yet. */
export function createClient(options: ClientOptions): Client {
  const { timeout = defaultTimeout, retries = defaultRetries } = options;
  const fetch = options.fetch ?? ((request: Request) => globalThis.fetch(request));
  const serviceUrls: Readonly<Record<string, string | undefined>> = options.serviceUrls ?? {};
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const ownHeaders = credentials(options);

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
      const { data, response, requestId } = await open(target, request, call);
      // The contract says what the data is; the server is held to it by its own tests.
      return { data: (target.operation.unread ? response : data) as Data, response, requestId };
    },
  };
}

/** Tries until it succeeds, fails for good or has been repeated that often. */
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

function credentials({ token, apiKey, headers }: ClientOptions): Headers {
  const all = new Headers(headers);
  if (token) all.set('Authorization', `Bearer ${token}`);
  if (apiKey) all.set('X-API-Key', apiKey);
  return all;
}

/** Later ones beat earlier ones: the client's, the request's own, the call's. */
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
  for (const [option, header] of Object.entries(optionHeaders)) {
    const value = call[option as keyof typeof optionHeaders];
    if (value !== undefined) headers.set(header, value);
  }
  for (const [name, value] of Object.entries(call.headers ?? {})) headers.set(name, value);
  return headers;
}
