import type { Stripe } from 'stripe';

type HttpClient = NonNullable<NonNullable<ConstructorParameters<typeof Stripe>[1]>['httpClient']>;
type Response = Awaited<ReturnType<HttpClient['makeRequest']>>;

/** The most bytes of an answer; real ones have a few thousand. */
const mostBytes = 2 * 2 ** 20;

/** The codes by which the client knows that an answer took too long, and that a connection ended, which it tries once more. */
const codes = { late: 'ETIMEDOUT', closed: 'ECONNRESET' } as const;

/** Why no answer of the provider can be used. The client gives it to whoever asked, as an error of the connection. */
class NoAnswer extends Error {
  readonly code: string | undefined;

  constructor(message: string, { code, cause }: { code?: string; cause?: unknown } = {}) {
    super(message, { cause });
    this.code = code;
  }
}

/**
 * What the client of the card provider sends its requests with. The client expects a JSON object and throws outside of every promise for
 * anything else, so that an answer is read and checked as a whole before the client sees it. The time is for the whole answer.
 */
export const cardHttp = (): HttpClient => ({
  getClientName: () => 'plinth',

  async makeRequest(host, port, path, method, headers, body, protocol, timeout) {
    const signal = AbortSignal.timeout(timeout);
    let response: globalThis.Response | undefined;
    try {
      response = await fetch(`${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}${path}`, {
        ...{ method, headers: sent(headers), signal, redirect: 'manual' },
        ...(method !== 'GET' && { body }),
      });
      const object = checked(response.status, parsed(await read(response)));
      return answer(response, object);
    } catch (error) {
      if (error instanceof NoAnswer) throw error;
      if (signal.aborted) throw new NoAnswer('the answer took too long', { code: codes.late, cause: error });
      const isClosed = response === undefined && closedCodes.has(codeOf(error));
      throw new NoAnswer('the connection failed', {
        ...(isClosed && { code: codes.closed }),
        cause: error,
      });
    }
  },
});

/** How a connection ends that the provider closed, perhaps before it read the request. */
const closedCodes: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

const codeOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error && 'code' in error.cause
    ? error.cause.code
    : undefined;

/** The length of the body is counted where it is sent. */
const sent = (headers: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name, value]) => value != null && name.toLowerCase() !== 'content-length')
      .map(([name, value]) => [name, String(value)]),
  );

async function read({ body }: globalThis.Response): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  // The type of a body lacks its iterator.
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > mostBytes) throw new NoAnswer('the answer is too large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (cause) {
    throw new NoAnswer('the answer is no JSON', { cause });
  }
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A success is an object without an error, and a failure one with an error that says its type. */
function checked(status: number, value: unknown): Fields {
  if (!isFields(value)) throw new NoAnswer('the answer is no object');
  const { error } = value;
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess && error === undefined) return value;
  if (!isSuccess && status >= 400 && isFields(error) && typeof error['type'] === 'string') return value;
  throw new NoAnswer(`the answer with status ${status} is not understood`);
}

const answer = ({ status, headers }: globalThis.Response, object: Fields): Response => ({
  getStatusCode: () => status,
  getHeaders: () => Object.fromEntries(headers),
  getRawResponse: () => ({}),
  toStream: () => {
    throw new NoAnswer('answers are read as a whole');
  },
  toJSON: async () => object,
});
