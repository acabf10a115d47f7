import { operations as allOperations, type ServiceName } from '../../generated/operations.ts';
import { createClient, type Client } from '../../sdk/src/runtime/client.ts';
import { isPlinthError, type PlinthError } from '../../sdk/src/runtime/errors.ts';
import type { RequestOptions } from '../../sdk/src/runtime/options.ts';
import type { Target } from '../../sdk/src/runtime/operation.ts';
import type { Plinth } from '../../sdk/src/services/index.ts';
import { DomainError, Internal, Invalid, Unavailable, type ErrorKind } from '../lib/errors.ts';
import { accessCheck, type Operator } from './access.ts';
import { credentialHeader, encodeCredential } from './asker-credential.ts';
import type { Asker } from './asker.ts';
import { isRoot, type Caller } from './caller.ts';
import { root } from './credentials.ts';
import { portOver, type Port } from './port.ts';
import { statusOf } from './status.ts';

/** A service that another server serves. */
export interface Remote {
  /** Its base URL, without a trailing slash. */
  readonly url: string;
  /** The root token of that server: only root may say on whose behalf it calls. */
  readonly token: string;
}

/**
 * The port of a service on another server. Root calls on the asker's behalf, with the asker's tenant, app, user, subject, scopes and
 * credential: the other server sees the caller that a service of this process would see.
 */
export const remotePort = <Name extends ServiceName>(
  name: Name,
  remote: Remote,
  operator: Operator,
): Port<Plinth[Name]> => portOver(name, remoteClient(name, remote, operator));

function remoteClient(name: ServiceName, { url, token }: Remote, operator: Operator): Client {
  const client = createClient({ baseUrl: url, serviceUrls: { [name]: url }, token });
  const allow = accessChecks(name, operator);
  /** A request that is refused here costs no call over the network. */
  const optionsFor = (target: Target, options: unknown): RequestOptions => {
    const asker = options as Asker;
    allow(target)(asker.caller);
    const timeout = timeoutOf(target);
    const behalf = onBehalf(asker);
    if (timeout > patienceMs) return { ...behalf, timeout };
    return { ...behalf, timeout, signal: AbortSignal.any([asker.signal, AbortSignal.timeout(patienceMs)]) };
  };
  return {
    send: (target, request, options) =>
      translated(name, async () => client.send(target, request, optionsFor(target, options))),
    open: (target, request, options) =>
      translated(name, async () => {
        const attempt = await client.open(target, request, optionsFor(target, options));
        return { ...attempt, failure: (thrown) => translate(name, attempt.failure(thrown)) as never };
      }),
  };
}

function accessChecks(
  service: ServiceName,
  operator: Operator,
): (target: Target) => (caller: Caller) => void {
  const checks = new Map(
    allOperations
      .filter((operation) => operation.service === service)
      .map((operation) => [`${operation.verb} ${operation.path}`, accessCheck(operation, operator)]),
  );
  return ({ operation: { verb, path } }) => checks.get(`${verb} ${path}`)!;
}

/**
 * The caller on whose behalf root calls. A root that names a tenant is confined to it, so a root that is not confined names none.
 */
function onBehalf({ caller, requestId, signal }: Asker): RequestOptions {
  const { tenant, app, userId, subjectId, scopes, confined } = caller;
  const free = isRoot(caller) && !confined && tenant === root.tenant;
  const credential = encodeCredential(caller);
  return {
    tenant: free ? undefined : tenant,
    app,
    user: userId ?? undefined,
    subject: subjectId ?? undefined,
    headers: {
      'X-Request-ID': requestId,
      'X-Scopes': scopes.filter(isSendable).join(' '),
      ...(credential !== undefined && { [credentialHeader]: credential }),
    },
    signal,
  };
}

/** Whether a scope is one word of the header. Any other scope is left out, because the server could read it as several scopes. */
const isSendable = (scope: string): boolean => /^[\x21-\x7e]+$/.test(scope);

/**
 * Milliseconds for a call whose answer must come soon, retries included: a server that hangs is not asked again while the asker waits,
 * and does not hold the asker's own callers for longer.
 */
const patienceMs = 5_000;

/** Milliseconds for one attempt: an answer must come soon, content may take long, and a stream may be silent for a while. */
function timeoutOf({ operation: { body, unread, events } }: Target): number {
  if (events) return 30_000;
  const whole = unread !== true && (body === undefined || /[/+]json$|\/x-www-form-urlencoded$/.test(body));
  return whole ? patienceMs : 600_000;
}

async function translated<Result>(service: ServiceName, call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw translate(service, error);
  }
}

/** The kinds of errors that a server tells its clients, by status. A 401 concerns the token of this server, not its caller. */
const kinds: ReadonlyMap<number, ErrorKind> = new Map(
  Object.entries(statusOf)
    .filter(([, status]) => status < 500 && status !== 401)
    .map(([kind, status]) => [status, kind as ErrorKind]),
);

function translate(service: ServiceName, error: unknown): unknown {
  // The SDK refuses a path parameter that no URL can carry before it sends anything.
  if (error instanceof TypeError) return Invalid(error.message, { cause: error });
  if (!isPlinthError(error)) return error;
  if (error.status === 401) return Internal(error);
  const kind = isOfService(error) ? kinds.get(error.status) : undefined;
  if (kind === undefined) return Unavailable(`${service} unavailable`, { cause: error });
  const { message, retryAfter } = error;
  return new DomainError(kind, message, retryAfter === undefined ? {} : { retryAfter });
}

/** Whether the service itself answered: a proxy, or a server at a wrong URL, says nothing about what exists. */
const isOfService = ({ kind, body, message }: PlinthError): boolean =>
  kind === 'response' && typeof body === 'object' && !message.includes('path not found');
