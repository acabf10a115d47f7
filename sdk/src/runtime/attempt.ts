import createTransport from 'openapi-fetch';
import { deadline, orAborted, type Deadline } from './deadline.ts';
import { aborted, PlinthError, requestIdOf, responseError } from './errors.ts';
import type { Target } from './operation.ts';
import type { PlacedRequest } from './request.ts';
import { uploadOf } from './uploads.ts';

/** A request that is ready to be sent, several times if necessary. */
export interface ReadyRequest extends PlacedRequest {
  readonly target: Target;
  readonly baseUrl: string;
  /** All headers of the request, in place of its own. */
  readonly allHeaders: Headers;
  readonly fetch: (request: Request) => Promise<Response>;
  /** Milliseconds per attempt. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

/** The result of one attempt. When the body is read later, the deadline continues without its timeout. */
export interface Attempt {
  readonly data: unknown;
  readonly response: Response;
  readonly requestId: string | undefined;
  readonly deadline: Deadline;
  /** Converts an error thrown while reading the body. */
  readonly failure: (thrown: unknown) => PlinthError;
}

/** The parts of an operation that openapi-fetch needs. The generated interfaces describe the rest. */
interface AnyOperation {
  requestBody?: { content: { '*/*': unknown } };
  responses: { default: { content: { '*/*': unknown } } };
}
type Verb = Lowercase<Target['operation']['verb']>;
const transport = /* @__PURE__ */ createTransport<Record<string, Record<Verb, AnyOperation>>>();

/** Makes one attempt, up to the end of the headers or, for a JSON answer, of the body. */
export async function attempt(request: ReadyRequest): Promise<Attempt> {
  const { name, operation } = request.target;
  const limit = deadline(request.timeout, request.signal);
  const later = operation.unread === true || operation.events !== undefined;
  const failure = (thrown: unknown) => failureOf(name, limit.reason(), thrown);
  const upload = uploadOf(request.body);
  let sent = false;
  try {
    const { error, data, response } = await orAborted(
      limit.signal,
      transport.request(operation.verb.toLowerCase() as Verb, request.path, {
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
        // A redirect could send an API key to another host, and no operation answers JSON through a redirect.
        redirect: 'manual',
        ...(upload.body instanceof ReadableStream && { duplex: 'half' }),
      }),
    );
    const answered = response.ok || response.status === 304 || (later && response.status < 400);
    if (!answered) throw responseError(name, response, error);
    if (!later && data === undefined && !operation.empty?.includes(response.status))
      throw new PlinthError({
        kind: 'protocol',
        operation: name,
        message: `${name}: the answer has no body, and JSON was due`,
        status: response.status,
        requestId: requestIdOf(response),
        headers: response.headers,
      });
    if (later) limit.pause();
    else limit.end();
    return { data, response, requestId: requestIdOf(response), deadline: limit, failure };
  } catch (thrown) {
    limit.end();
    upload.drop();
    // An error before the request was sent is the caller's mistake and is rethrown unchanged.
    throw sent || limit.reason() !== undefined ? failure(thrown) : thrown;
  }
}

const messages = {
  timeout: 'no answer in time',
  protocol: 'the answer is not JSON',
  connection: 'no connection to the server, or it was lost',
};

/** Returns the error for an exception during a request, depending on what ended the request. */
function failureOf(operation: string, reason: 'timeout' | 'abort' | undefined, cause: unknown): PlinthError {
  if (cause instanceof PlinthError) return cause;
  if (reason === 'abort') return aborted(operation, cause);
  const kind = reason ?? (cause instanceof SyntaxError ? 'protocol' : 'connection');
  return new PlinthError({ kind, operation, message: `${operation}: ${messages[kind]}`, cause });
}
