import express, { type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Cors } from './cors.ts';
import { within } from '../lib/tracing/spans.ts';
import { beginExchange, exchangeOf } from './exchange.ts';
import { endRequestSpan } from './request-span.ts';
import type { Health } from './health.ts';
import { logRequest } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Pages } from './pages.ts';
import type { Peers } from './peers.ts';
import { respond } from './respond.ts';
import type { Runtime } from './runtime.ts';
import type { Scraper } from './scraper.ts';

export interface FrameOptions {
  readonly runtime: Runtime;
  readonly peers: Peers;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly mayScrape: Scraper;
  readonly health: Health;
  readonly pages: Pages;
  /** Undefined when pages of other origins may not call. */
  readonly cors: Cors | undefined;
}

/** The Express application around the operations: all middleware that a request passes, in this order. */
export function createFrame(options: FrameOptions): Express {
  const { runtime, metrics, mayScrape, health, pages, cors } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);

  app.use(begin(options)); //                  request id and address, one log line at the end
  if (cors) app.use(admit(cors)); //           pages of other origins, before anything is refused
  app.use(runtime.raw.handle); //              other protocols, before anything is decoded
  app.use(runtime.operations); //              the operations of the contract
  app.use(identify); //                        the request id on all other responses
  app.get('/healthz', health.live); //         the process runs
  app.get('/readyz', health.ready); //         the process can answer requests
  app.get('/metrics', scrape(metrics, mayScrape)); //   metrics for Prometheus
  app.use(pages); //                           index, OpenAPI documents, API reference
  app.use(runtime.unknown); //                 404 in the envelope of the service
  app.use(runtime.failed); //                  errors thrown outside of operations
  return app;
}

/** The application on a port that serves one part of a service, which speaks another protocol. */
export function createRawFrame(options: BeginOptions, handle: RequestHandler): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use(begin(options));
  app.use(handle);
  return app;
}

type BeginOptions = Pick<FrameOptions, 'runtime' | 'peers' | 'log' | 'metrics'>;

function begin({ runtime, peers, log, metrics }: BeginOptions): RequestHandler {
  return (req, res, next) => {
    const exchange = beginExchange(req, res, peers);
    const { method, url } = req;
    metrics.begin();
    res.once('close', () => {
      metrics.end();
      exchange.record?.(res.statusCode, performance.now() - exchange.startedAt);
      const path = url.split('?', 1)[0]!;
      // A wrong method on a path, and the preflight of a browser, reach no operation that says what its path holds.
      const written = exchange.operation === undefined ? runtime.writtenPath(path) : path;
      logRequest(log, res, written, method, exchange);
      if (exchange.span) endRequestSpan(exchange.span, res, exchange);
    });
    within(exchange.span, next);
  };
}

function admit(cors: Cors): RequestHandler {
  return (req, res, next) => {
    if (!cors(req, res)) return next();
    respond(res, exchangeOf(res), { status: 204, contentType: null, headers: undefined, body: undefined });
  };
}

const identify: RequestHandler = (_req, res, next) => {
  res.setHeader('X-Request-ID', exchangeOf(res).requestId);
  next();
};

function scrape(metrics: Metrics, mayScrape: Scraper): RequestHandler {
  return async (req, res) => {
    await mayScrape(req, exchangeOf(res));
    res.setHeader('Content-Type', metrics.contentType);
    res.end(await metrics.text());
  };
}
