import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Invalid, RateLimited, Unauthenticated } from '../lib/errors.ts';
import { callerByCredential, credentialHeader } from './asker-credential.ts';
import { isRoot, nobody, type Caller } from './caller.ts';
import type { Exchange } from './exchange.ts';

/** Turns the credential of a request into a caller; returns undefined when the request carries no credential of its kind. */
export type CredentialResolver = (
  presented: Presented,
  req: IncomingMessage,
  exchange: Exchange,
) => Caller | Promise<Caller> | undefined;

/** The credentials that a request carries. */
export interface Presented {
  /** The whole `Authorization` header. */
  readonly authorization: string | undefined;
  /** The token in that header, when its scheme is Bearer. */
  readonly bearer: string | undefined;
  readonly apiKey: string | undefined;
}

/**
 * Identifies the caller by the first resolver that knows the credential; a request without a credential is `anonymous` (nobody,
 * except in development). Throws `Unauthenticated` for a credential that no resolver knows, `Invalid` for more than one credential.
 */
export function callers(resolvers: readonly CredentialResolver[], anonymous: Caller = nobody) {
  return (req: IncomingMessage, exchange: Exchange): Caller | Promise<Caller> => {
    const { authorization } = req.headers;
    const apiKey = header(req, 'x-api-key');
    if (authorization === undefined && apiKey === undefined)
      return onBehalf(isForeignPage(req) ? nobody : anonymous, req);
    if (authorization !== undefined && apiKey !== undefined)
      throw Invalid('X-API-Key: not together with Authorization, only one credential may be given');
    const bearer = authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    const presented = { authorization, bearer, apiKey };
    for (const resolve of resolvers) {
      const caller = resolve(presented, req, exchange);
      if (caller instanceof Promise) return caller.then((found) => onBehalf(found, req));
      if (caller) return onBehalf(caller, req);
    }
    throw Unauthenticated();
  };
}

/** The caller with the root token, before headers say on whose behalf it acts. */
export const root: Caller = Object.freeze({
  tenant: 'default',
  app: 'default',
  actor: 'root',
  userId: null,
  subjectId: null,
  credential: Object.freeze({ kind: 'root', id: 'root' }),
  session: null,
  scopes: Object.freeze(['*']),
  confined: false,
});

/** Root without a token, for development on one's own machine. */
export const anonymousRoot: Caller = Object.freeze({
  ...root,
  credential: Object.freeze({ kind: 'anonymous', id: 'anonymous' }),
});

const ownPage = /^https?:\/\/([\w-]+\.)*(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/;

/** A page of another site in the developer's browser can also reach the local server, and must not be root there. */
const isForeignPage = ({ headers: { origin } }: IncomingMessage) =>
  origin !== undefined && !ownPage.test(origin);

/** Accepts the root token as Bearer. */
export function rootToken(token: string): CredentialResolver {
  const digest = sha256(token);
  // The one header that proved correct, so that it is not hashed for each request. A set looks up by hash and does not
  // compare characters from the left, so the time of a wrong guess reveals nothing.
  const verified = new Set<string>();
  return ({ authorization, bearer }) => {
    if (authorization === undefined || bearer === undefined) return undefined;
    if (verified.has(authorization)) return root;
    if (!timingSafeEqual(sha256(bearer), digest)) return undefined;
    verified.clear();
    verified.add(authorization);
    return root;
  };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Validates an API key through the `keys` service; the types show the part of the request and the answer that the HTTP layer uses. */
export type ValidateKey = (facts: KeyFacts, requestId: string) => Promise<KeyVerdict>;

export interface KeyFacts {
  readonly raw_key: string;
  readonly ip: string;
  readonly origin: string | null;
  readonly method: string;
  readonly endpoint: string;
  readonly user_agent: string | null;
}

export interface KeyVerdict {
  readonly valid: boolean;
  readonly code: string;
  readonly key: { readonly id: string; readonly tenant_id: string; readonly app_id: string } | null;
  readonly scopes: readonly string[];
  readonly retry_after: number | null;
}

/** The form of the platform's raw keys: `<prefix>_<environment>_<55 characters>`. */
const keyShape = /^[A-Za-z0-9][A-Za-z0-9_-]*_[a-z][a-z0-9-]{0,31}_[0-9A-Za-z]{55}$/;

/** Accepts an API key in `X-API-Key`, or a Bearer token that has its form. Throws `RateLimited` when the key's rate is used up. */
export function apiKey(validate: ValidateKey): CredentialResolver {
  return ({ apiKey, bearer }, req, { ip, requestId }) => {
    const raw = apiKey ?? (bearer !== undefined && keyShape.test(bearer) ? bearer : undefined);
    if (raw === undefined) return undefined;
    if (raw.length === 0 || raw.length > 4096) throw Unauthenticated();
    const facts = {
      raw_key: raw,
      ip,
      origin: clipped(header(req, 'origin')),
      method: req.method ?? 'GET',
      endpoint: (req.url ?? '/').split('?', 1)[0]!.slice(0, 512),
      user_agent: clipped(header(req, 'user-agent')),
    };
    return validate(facts, requestId).then(keyCaller);
  };
}

function keyCaller({ valid, code, key, scopes, retry_after }: KeyVerdict): Caller {
  if (code === 'RATE_LIMITED')
    throw RateLimited('rate limit exceeded', { retryAfter: Math.max(1, retry_after ?? 1) });
  if (!valid || !key) throw Unauthenticated();
  return {
    tenant: key.tenant_id,
    app: key.app_id,
    actor: key.id,
    userId: null,
    subjectId: null,
    credential: { kind: 'key', id: key.id },
    session: null,
    scopes,
    confined: false,
  };
}

/** Resolves a session token through the service that issues session tokens; returns undefined for an invalid token. */
export type ResolveSession = (
  token: string,
) => SessionVerdict | undefined | Promise<SessionVerdict | undefined>;

export interface SessionVerdict {
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  readonly user_id: string;
  readonly org_id: string | null;
  readonly impersonated_by: string | null;
  readonly authenticated_at: string;
  /** What the user may do in the whole app. */
  readonly scopes: readonly string[];
  /** What the user may do in the active organization, by roles that apply only there. */
  readonly org_scopes: readonly string[];
}

const sessionShape = /^pst_[0-9A-Za-z]{55}$/;

/** Accepts a session token as Bearer. */
export function sessionToken(resolve: ResolveSession): CredentialResolver {
  return ({ bearer }) => {
    if (bearer === undefined || !sessionShape.test(bearer)) return undefined;
    const found = resolve(bearer);
    return found instanceof Promise ? found.then(sessionCaller) : sessionCaller(found);
  };
}

const sessionCaller = (found: SessionVerdict | undefined): Caller => {
  if (!found) throw Unauthenticated();
  return {
    tenant: found.tenant,
    app: found.app,
    actor: found.user_id,
    userId: found.user_id,
    subjectId: null,
    credential: { kind: 'session', id: found.id },
    session: {
      id: found.id,
      orgId: found.org_id,
      orgScopes: found.org_scopes,
      impersonatedBy: found.impersonated_by,
      authenticatedAt: found.authenticated_at,
    },
    scopes: found.scopes,
    confined: false,
  };
};

/**
 * Applies the identity headers, which choose on whose behalf root acts, and with which scopes: a server that asks another one on
 * behalf of its caller passes on the kind of its credential, and the caller's rights and no more. Every other credential names its own
 * tenant and user, also behind a trusted proxy: most proxies pass on what clients send, and a proxy is trusted for client addresses
 * only.
 */
function onBehalf(caller: Caller, req: IncomingMessage): Caller {
  if (!isRoot(caller)) return caller;
  const tenant = identity(req, 'X-Tenant-ID', 'x-tenant-id', /^[A-Za-z0-9._-]{1,64}$/);
  const app = identity(req, 'X-App-ID', 'x-app-id', /^[A-Za-z0-9._-]{1,64}$/);
  const user = identity(req, 'X-User-ID', 'x-user-id', /^[\x21-\x7e]{1,256}$/);
  const subject = identity(req, 'X-Subject-ID', 'x-subject-id', /^[\x21-\x7e]{1,256}$/);
  const scopes = identity(req, 'X-Scopes', 'x-scopes', /^[\x21-\x7e]*( [\x21-\x7e]+)*$/);
  const credential = req.headers[credentialHeader.toLowerCase()];
  if ([tenant, app, user, subject, scopes, credential].every((one) => one === undefined)) return caller;
  const spoken = {
    ...caller,
    tenant: tenant ?? caller.tenant,
    app: app ?? caller.app,
    actor: user ?? caller.actor,
    userId: user ?? caller.userId,
    subjectId: subject ?? caller.subjectId,
    scopes: scopes?.split(' ').filter((one) => one !== '') ?? caller.scopes,
    confined: caller.confined || tenant !== undefined,
  };
  return credential === undefined ? spoken : callerByCredential(spoken, credential);
}

function identity(req: IncomingMessage, name: string, key: string, form: RegExp): string | undefined {
  const value = req.headers[key];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && form.test(value)) return value;
  throw Invalid(`${name}: must match ${form.source}`);
}

function header(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return typeof value === 'string' ? value : undefined;
}

const clipped = (text: string | undefined) => (text === undefined ? null : text.slice(0, 512));

/** Whether a token may be a root token: it has the form of no other credential. */
export const isRootForm = (token: string): boolean =>
  !keyShape.test(token) && !sessionShape.test(token) && !/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
