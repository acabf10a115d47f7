import { ServerResponse, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Context } from '../../../http/context.ts';
import { Internal } from '../../../lib/errors.ts';
import type { Visit } from '../directory/visit.ts';
import { Provider } from './oidc-library.ts';

/** The parts of a request to the library. */
export interface OidcRequest {
  readonly method: 'GET' | 'POST';
  /** The path below the issuer's, with its query. */
  readonly path: string;
  /** The body, sent as a form. */
  readonly form?: Readonly<Record<string, unknown>>;
  /** The header `DPoP`. */
  readonly proof?: string | undefined;
  /** A browser shows the response, so failures are pages. */
  readonly page?: boolean;
}

export interface OidcAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
}

type From = Pick<Context, 'ip' | 'userAgent' | 'cookie' | 'authorization'>;

/** The library sees the issuer's address as its own, whatever the request says. */
export class OidcIncoming extends Readable {
  readonly method: string;
  readonly url: string;
  readonly originalUrl: string;
  readonly headers: Record<string, string>;
  readonly httpVersion = '1.1';
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor = 1;
  readonly complete = true;
  readonly socket: { readonly encrypted: boolean; readonly remoteAddress: string };
  readonly visit: Visit;
  /** The arrival time, in milliseconds of the monotonic clock. */
  readonly startedAt = performance.now();
  /** The internal error, for the log. */
  fault: unknown;

  constructor(issuer: URL, { method, path, form, proof, page = false }: OidcRequest, from: From) {
    super();
    const body = form === undefined ? undefined : Buffer.from(formOf(form));
    this.method = method;
    this.url = path;
    this.originalUrl = issuer.pathname.replace(/\/$/, '') + path;
    this.headers = {
      host: issuer.host,
      accept: page ? 'text/html' : 'application/json',
      ...(body && {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': String(body.byteLength),
      }),
      ...(from.cookie !== undefined && { cookie: from.cookie }),
      ...(proof !== undefined && { dpop: proof }),
      ...(from.authorization !== undefined && { authorization: from.authorization }),
    };
    this.socket = { encrypted: issuer.protocol === 'https:', remoteAddress: from.ip };
    this.visit = { ip: from.ip, userAgent: from.userAgent, deviceToken: undefined };
    if (body) this.push(body);
    this.push(null);
  }

  override _read(): void {}
}

/** Keeps the body instead of sending it. */
export class OidcOutgoing extends ServerResponse {
  sent = '';

  override end(chunk?: unknown): this {
    if (typeof chunk === 'string') this.sent = chunk;
    else if (chunk instanceof Uint8Array) this.sent = Buffer.from(chunk).toString('utf8');
    super.end();
    return this;
  }
}

/** Calls the library in this process. @throws Internal if it failed rather than refused */
export async function askLibrary(
  handle: ReturnType<Provider['callback']>,
  issuer: URL,
  request: OidcRequest,
  from: From,
): Promise<OidcAnswer> {
  const incoming = new OidcIncoming(issuer, request, from);
  const outgoing = new OidcOutgoing(incoming as unknown as IncomingMessage);
  await handle(incoming as unknown as IncomingMessage, outgoing);
  if (outgoing.statusCode >= 500) throw Internal(incoming.fault ?? new Error('the OAuth library failed'));
  return {
    status: outgoing.statusCode,
    headers: outgoing.getHeaders() as Record<string, string | string[]>,
    body: outgoing.sent,
  };
}

/** The origin of the current request. */
export function visitOfCurrent(): Visit {
  const request: unknown = Provider.ctx?.req;
  return request instanceof OidcIncoming
    ? request.visit
    : { ip: null, userAgent: null, deviceToken: undefined };
}

/** Milliseconds since the current request arrived. */
export function elapsedOfCurrent(): number {
  const request: unknown = Provider.ctx?.req;
  return request instanceof OidcIncoming ? performance.now() - request.startedAt : 0;
}

/** Encodes the string members as a form or a query. */
export const formOf = (form: object): string =>
  new URLSearchParams(
    Object.entries(form).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  ).toString();
