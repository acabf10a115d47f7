import createTransport from 'openapi-fetch';
import { deadline, type Deadline } from './deadline.ts';
import { aborted, PlinthError, requestIdOf, responseError } from './errors.ts';
import type { Target } from './operation.ts';
import type { PlacedRequest } from './request.ts';
import { uploadOf } from './uploads.ts';

/** A request that is ready to be sent, as often as it takes. */
export interface ReadyRequest extends PlacedRequest {
  readonly target: Target;
  readonly baseUrl: string;
  /** All of them, in place of the request's own. */
  readonly allHeaders: Headers;
  readonly fetch: (request: Request) => Promise<Response>;
  /** Milliseconds for one try. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

/** What one try came to. Where the body is read later, the deadline goes on, without its time. */
export interface Attempt {
  readonly data: unknown;
  readonly response: Response;
  readonly requestId: string | undefined;
  readonly deadline: Deadline;
  /** The error that something thrown while reading the body stands for. */
  failure(thrown: unknown): PlinthError;
}

/** What openapi-fetch has to know of an operation; the generated interfaces know the rest. */
interface AnyOperation {
  requestBody?: { content: { '*/*': unknown } };
  responses: { default: { content: { '*/*': unknown } } };
}
type Verb = Lowercase<Target['operation']['verb']>;
const transport = /* @__PURE__ */ createTransport<Record<string, Record<Verb, AnyOperation>>>();

/** One try, as far as the end of the headers or, where the answer is JSON, of the body. */
export async function attempt(request: ReadyRequest): Promise<Attempt> {
  const { name, operation } = request.target;
  const limit = deadline(request.timeout, request.signal);
  const later = operation.unread === true || operation.events !== undefined;
  const failure = (thrown: unknown) => failureOf(name, limit.reason(), thrown);
  const upload = uploadOf(request.body);
  let sent = false;
  try {
    const { error, data, response } = await transport.request(
      operation.verb.toLowerCase() as Verb,
      request.path,
      {
        baseUrl: request.baseUrl,
        fetch: (input) => {
          sent = true;
          return request.fetch(input);
        },
        params: { query: request.query },
        headers: request.allHeaders,
        body: upload.body,
        bodySerializer: (body: unknown) => body,
        parseAs: later ? 'stream' : 'json',
        signal: limit.signal,
        // A redirect could carry an API key to another host, and no operation answers JSON through one.
        redirect: 'manual',
        ...(upload.body instanceof ReadableStream && { duplex: 'half' }),
      },
    );
    const answered = response.ok || response.status === 304 || (later && response.status < 400);
    if (!answered) throw responseError(name, response, error);
    if (later) limit.pause();
    else limit.end();
    return { data, response, requestId: requestIdOf(response), deadline: limit, failure };
  } catch (thrown) {
    limit.end();
    upload.drop();
    // What could not even be sent is the caller's mistake, and stays the error that it is.
    throw sent || limit.reason() !== undefined ? failure(thrown) : thrown;
  }
}

const messages = {
  timeout: 'no answer in time',
  protocol: 'the answer is not JSON',
  connection: 'no connection to the server, or it was lost',
};

/** The error for what was thrown while a request was under way, by what had ended it. */
function failureOf(operation: string, reason: 'timeout' | 'abort' | undefined, cause: unknown): PlinthError {
  if (cause instanceof PlinthError) return cause;
  if (reason === 'abort') return aborted(operation, cause);
  const kind = reason ?? (cause instanceof SyntaxError ? 'protocol' : 'connection');
  return new PlinthError({ kind, operation, message: `${operation}: ${messages[kind]}`, cause });
}
