import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Idempotency } from '../db/idempotency.ts';
import { DomainError, Internal, Invalid, NotFound } from '../lib/errors.ts';
import type { Operator } from './access.ts';
import { type BasePath, servedPath } from './base-path.ts';
import type { Caller } from './caller.ts';
import type { Contract } from './contract.ts';
import { endpoint, type Endpoint } from './endpoint.ts';
import { exchangeOf, type Exchange } from './exchange.ts';
import { failure, plainEnvelope, type Envelope } from './failure.ts';
import { Fairness } from './fairness.ts';
import { mayCarryCredential } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Operation, Validators } from './operation.ts';
import { clipped } from './clipped.ts';
import { handlerOf } from './handlers.ts';
import { respond } from './respond.ts';
import { rawMounts, type RawMounts } from './raw-mounts.ts';
import { pathRouter } from './router.ts';
import type { Service } from './service.ts';
import { upgrades } from './upgrade.ts';

/** A service with its contract, and the path under which it is mounted (`/authz`, or empty when it runs alone). */
export interface Mounted {
  readonly name: string;
  readonly prefix: string;
  readonly basePath?: BasePath | undefined;
  readonly service: Service;
  readonly operations: readonly Operation[];
  readonly validators: Readonly<Record<string, Validators>>;
  /** The second check, in strict mode. */
  readonly contract: Contract | undefined;
}

export interface RuntimeOptions {
  readonly identify: (req: IncomingMessage, exchange: Exchange) => Caller | Promise<Caller>;
  readonly operator: Operator;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Keeps the responses to requests with an `Idempotency-Key`. */
  readonly idempotency: Pick<Idempotency, 'claim'> | undefined;
  /** Whether pages of this origin may open the connection that this URL upgrades. Pages of the server's own host always may. */
  readonly admitsOrigin?: (url: string, origin: string) => boolean;
  /** Aborted when the server shuts down, which ends event streams. */
  readonly ending: AbortSignal;
}

/** The middleware that answers operations, and the two that answer unknown paths and errors. */
export interface Runtime {
  /** The methods of a path: those of its operations, or `GET` and `HEAD` for any other path. */
  methodsOf(url: string): readonly string[];
  /** Whether an operation at this URL turns connections into another protocol. */
  upgrades(url: string): boolean;
  /**
   * The part that the log may write of the path of a request that no operation answered: the path without values that may be
   * credentials.
   */
  writtenPath(path: string): string;
  /** The numbers of requests that have a turn and that wait for one. */
  readonly turns: () => { readonly running: number; readonly waiting: number };
  /** Parts of services that speak another protocol. */
  readonly raw: RawMounts;
  readonly operations: RequestHandler;
  readonly unknown: RequestHandler;
  readonly failed: ErrorRequestHandler;
}

/** Serves the operations of all mounted services. Throws when an operation has no handler or a handler has no operation. */
export function createRuntime(services: readonly Mounted[], options: RuntimeOptions): Runtime {
  const router = pathRouter<Methods>();
  const fairness = new Fairness();
  for (const mounted of services) {
    checkHandlers(mounted);
    for (const operation of mounted.operations) {
      const answer = endpoint(operation, handlerOf(mounted, operation)!, mounted, options, fairness);
      for (const path of pathsOf(operation, mounted)) {
        const methods = router.at(path, () => new Methods(mounted.service));
        methods.add(operation.verb, answer);
        if (upgrades(operation)) methods.upgrades = true;
        if (mayCarryCredential(operation)) methods.writtenPath = operation.path;
      }
    }
  }
  const fail = (thrown: unknown, envelope: Envelope, res: ServerResponse) =>
    respond(res, exchangeOf(res), failure(thrown, envelope, exchangeOf(res), options.log));
  const envelopeOf = (url: string): Envelope => ownerOf(url, services)?.service ?? plainEnvelope;
  /** Forgetting the service's name at the start of a path is a common mistake when several services are served. */
  const unknownPath = (url: string): DomainError => {
    const [path = ''] = url.split('?', 1);
    const meant = services.map(({ prefix }) => prefix + path).filter((one) => isFound(router.find(one)));
    if (meant.length !== 1) return NotFound('path');
    return new DomainError('notFound', `path not found, did you mean ${clipped(meant[0]!)}?`);
  };

  return {
    turns: () => fairness.counts,
    raw: rawMounts(services, { fairness, metrics: options.metrics, log: options.log }),
    methodsOf(url) {
      const found = router.find(url);
      return isFound(found) ? found.target.names : ['GET', 'HEAD'];
    },
    upgrades(url) {
      const found = router.find(url);
      return isFound(found) && found.target.upgrades;
    },
    writtenPath(path) {
      const found = router.find(path.endsWith('/') ? path.slice(0, -1) : path);
      return (isFound(found) ? found.target.writtenPath : undefined) ?? path;
    },
    operations(req, res, next) {
      const found = router.find(req.url, (methods) => methods.of(req.method) !== undefined);
      if (found === undefined) return next();
      if (found === 'malformed')
        return fail(Invalid('path: malformed percent-encoding'), envelopeOf(req.url), res);
      const answer = found.target.of(req.method);
      if (answer) void answer(req, res, found.params);
      else found.target.refuse(req, res, fail);
    },
    unknown: (req, res) => fail(unknownPath(req.url), envelopeOf(req.url), res),
    failed: (error, req, res, _next) =>
      fail(error instanceof DomainError ? error : Internal(error), envelopeOf(req.url), res),
  };
}

function pathsOf({ id, path, aliases = [] }: Operation, { prefix, basePath, service }: Mounted): string[] {
  const elsewhere = service.alsoAt?.[id];
  const own = [path, ...aliases].map((one) => prefix + servedPath(one, basePath));
  return elsewhere === undefined ? own : [...own, elsewhere];
}

const isFound = <Found>(found: Found | 'malformed' | undefined): found is Found =>
  found !== undefined && found !== 'malformed';

/** The methods of one path. */
class Methods {
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #envelope: Envelope;
  /** Whether one of its operations turns connections into another protocol. */
  upgrades = false;
  /** The text that the log writes instead of the path when a parameter of the path may be a credential. */
  writtenPath: string | undefined;

  constructor(envelope: Envelope) {
    this.#envelope = envelope;
  }

  add(verb: string, answer: Endpoint): void {
    this.#endpoints.set(verb, answer);
  }

  get names(): string[] {
    const verbs = [...this.#endpoints.keys()];
    return verbs.includes('GET') && !verbs.includes('HEAD') ? [...verbs, 'HEAD'] : verbs;
  }

  /** HEAD without an operation of its own is answered like GET; Node omits the body. */
  of(method: string): Endpoint | undefined {
    return this.#endpoints.get(method) ?? (method === 'HEAD' ? this.#endpoints.get('GET') : undefined);
  }

  refuse(
    req: IncomingMessage,
    res: ServerResponse,
    fail: (thrown: unknown, envelope: Envelope, res: ServerResponse) => void,
  ) {
    res.setHeader('Allow', [...this.names, 'OPTIONS'].join(', '));
    if (req.method !== 'OPTIONS')
      return fail(new DomainError('methodNotAllowed', 'method not allowed'), this.#envelope, res);
    respond(res, exchangeOf(res), { status: 204, contentType: null, headers: undefined, body: undefined });
  }
}

function ownerOf(url: string, services: readonly Mounted[]): Mounted | undefined {
  return services.find(({ prefix }) => prefix === '' || url === prefix || url.startsWith(`${prefix}/`));
}

/** Throws at startup unless the contract and the code name the same operations. */
function checkHandlers(mounted: Mounted): void {
  const missing = mounted.operations
    .filter((operation) => !handlerOf(mounted, operation))
    .map(({ id }) => id);
  const known = new Set(mounted.operations.map(({ id }) => id));
  const given = Object.entries(mounted.service.handlers).flatMap(([resource, methods]) =>
    Object.keys(methods).map((method) => `${resource}_${method}`),
  );
  const unknown = given.filter((id) => !known.has(id));
  if (missing.length > 0) throw new Error(`service ${mounted.name}: no handler for ${missing.join(', ')}`);
  if (unknown.length > 0) throw new Error(`service ${mounted.name}: no operation for ${unknown.join(', ')}`);
}
