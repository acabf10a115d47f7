/**
 * The mock: every service of the contract under the paths of the all-in-one server, answering with the examples of the
 * contract.
 *
 * The mock reads and rejects requests exactly like the real server, with the same readers and validators. The answers to valid
 * requests come from Prism. Nothing is stored: a created role is the role of the examples, and so is any role that is read. A
 * stateful mock remembers what is created, changed and deleted, as far as the contract defines the effect.
 */
import express from 'express';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { operations, services, type ServiceName } from '../../generated/operations.ts';
import { createCors } from '../http/cors.ts';
import { listen } from '../http/listen.ts';
import { createPages } from '../http/pages.ts';
import { pathRouter } from '../http/router.ts';
import { asDomainError, statusOf } from '../http/status.ts';
import { DomainError, Invalid, NotFound, Unauthenticated } from '../lib/errors.ts';
import { banner } from './banner.ts';
import { fileOf } from './contract/document.ts';
import { upgrader } from './answers/feed.ts';
import { Memory } from './memory/memory.ts';
import { mockService, type MockedOperation, type MockedService } from './service.ts';
import { write, type Outgoing } from './answers/outgoing.ts';

/** Limits of a stateful mock's memory. */
const most = {
  all: 50_000,
  tenant: 5_000,
  // Bytes that were uploaded: for one content, and for all contents of a tenant.
  content: 8 * 1024 * 1024,
  contents: 64 * 1024 * 1024,
};

export interface MockOptions {
  port: number;
  host: string;
  /** Names of the services to mock; all services of the contract by default. */
  services?: readonly string[] | undefined;
  /** Remembers what is created, changed and deleted until the mock ends. */
  stateful?: boolean | undefined;
  /** Receives the banner; the console by default. */
  log?: { info(text: string): void } | undefined;
}

export interface Mock {
  /** Without a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the mock. Port 0 takes a free port. Rejects for a service that is not in the contract. */
export async function startMock({
  port,
  host,
  services: chosen,
  stateful = false,
  log = console,
}: MockOptions): Promise<Mock> {
  const names = (chosen ?? Object.keys(services)).map(serviceName);
  const memory = stateful ? new Memory(most) : undefined;
  // Answers contain the address of the mock, which is known only once it listens. No request arrives before this function ends.
  const late: { answer?: ReturnType<typeof answerer> } = {};
  const listening = await listen((req, res) => late.answer?.(req, res), { host, port });
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${listening.port}`;
  const mocked = names.map((name) => mockService(name, memory, reachable(url)));
  late.answer = answerer(mocked);
  listening.server.on('upgrade', upgrader(mocked));
  log.info(banner(url, names, stateful ? most.all : 0));
  return { url, close: () => listening.close(0) };
}

/** Returns an address at which programs on this machine reach a server that listens on every address. */
const reachable = (url: string) => url.replace(/\/\/(0\.0\.0\.0|\[::\]):/, '//localhost:');

function serviceName(name: string): ServiceName {
  const known = Object.keys(services) as ServiceName[];
  const found = known.find((one) => one === name);
  if (!found) throw new Error(`there is no service ${name}: choose among ${known.join(', ')}`);
  return found;
}

/** Answers requests to all services. Never rejects: an internal failure becomes a 500 that names its cause, since this is a mock. */
function answerer(mocked: readonly MockedService[]) {
  const routes = pathRouter<Map<string, MockedOperation>>();
  for (const { name, operations: own } of mocked) {
    for (const operation of own)
      for (const path of operation.paths)
        routes.at(`/${name}${path}`, () => new Map()).set(operation.verb, operation);
  }

  async function answer(req: IncomingMessage, found: ReturnType<typeof routes.find>): Promise<Outgoing> {
    if (found === 'malformed') throw Invalid('path: malformed percent-encoding');
    if (!found) throw NotFound('path');
    // Node omits the body from the answer to a HEAD request.
    const operation =
      found.target.get(req.method ?? 'GET') ?? (req.method === 'HEAD' ? found.target.get('GET') : undefined);
    if (!operation) throw new DomainError('methodNotAllowed', 'method not allowed');
    if (!operation.public && !hasCredentials(req)) throw Unauthenticated();
    return operation.answer(req, found.params);
  }

  const pages = pagesOf(mocked);
  // A mock holds nothing worth protecting.
  const cors = createCors({ origins: ['*'], operations, methodsOf, alsoAllowed: ['Prefer'] });
  function methodsOf(url: string): string[] {
    const found = routes.find(url);
    return found === undefined || found === 'malformed' ? ['GET'] : [...found.target.keys()];
  }

  return (req: IncomingMessage, res: ServerResponse): void => {
    res.setHeader('X-Request-ID', req.headers['x-request-id'] ?? randomUUID());
    if (cors(req, res)) {
      res.writeHead(204).end();
      return;
    }
    const found = routes.find(req.url ?? '/');
    const respond = () =>
      answer(req, found)
        .catch((thrown: unknown) => refusal(thrown, req, mocked))
        .then((outgoing) => write(res, outgoing))
        .catch((thrown: unknown) => res.destroy(thrown instanceof Error ? thrown : undefined));
    if (found) void respond();
    else pages(req, res, () => void respond());
  };
}

/** The pages that the real server shows people: the index, and for each service its OpenAPI document and its reference. */
function pagesOf(mocked: readonly MockedService[]) {
  const shown = mocked.map(({ name }) => ({
    name,
    title: services[name].title,
    prefix: `/${name}`,
    document: fileOf(name),
  }));
  const app = express()
    .disable('x-powered-by')
    .disable('etag')
    .use(createPages(shown, { own: [] }));
  return (req: IncomingMessage, res: ServerResponse, next: () => void): void => {
    app(req as express.Request, res as express.Response, next);
  };
}

const hasCredentials = ({ headers }: IncomingMessage) =>
  headers.authorization !== undefined || headers['x-api-key'] !== undefined;

/** Returns a failure in the envelope of the service to which the path belongs. */
function refusal(thrown: unknown, req: IncomingMessage, mocked: readonly MockedService[]): Outgoing {
  const error = asDomainError(thrown);
  const status = statusOf[error.kind];
  const service = mocked.find(({ name }) => new RegExp(`^/${name}(/|\\?|$)`).test(req.url ?? ''));
  const message = error.kind === 'internal' ? `mock: ${String(error.cause)}` : error.message;
  const body = service ? service.envelope(status, message) : { error: message };
  const headers: Record<string, string> = status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
  return { status, contentType: 'application/json', headers, body: JSON.stringify(body) };
}
