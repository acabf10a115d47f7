import express, { type RequestHandler } from 'express';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type BasePath, servedPath } from './base-path.ts';
import { escapeHtml, type HtmlPage, sendHtml } from './html.ts';
import { firstCall } from './first-call.ts';
import { type IndexEntry, indexPage, type OwnLink } from './index-page.ts';
import { mergeDocuments, type OpenApi } from './merged-document.ts';
import type { createStart } from './start.ts';

/** A service as the pages show it. */
export interface Page {
  readonly name: string;
  readonly title: string;
  /** The prefix of the contract's paths; empty when the service runs alone. */
  readonly prefix: string;
  readonly basePath?: BasePath | undefined;
  /** File of its OpenAPI document. */
  readonly document: URL;
  /** Ids of the operations that are served; by default all operations of the document. */
  readonly operations?: ReadonlySet<string>;
}

export type Pages = RequestHandler;

const ownLinks: readonly OwnLink[] = [
  ['/healthz', 'health'],
  ['/readyz', 'readiness'],
  ['/metrics', 'metrics'],
];

/**
 * Serves an index of the services, and for each service its OpenAPI document and its API reference (Scalar, without a CDN).
 * Unless a service runs alone, there is also one merged document of all services.
 */
export function createPages(
  services: readonly Page[],
  own: readonly OwnLink[] = ownLinks,
  start?: ReturnType<typeof createStart>,
): Pages {
  const router = express.Router();
  const read = services.map((page) => ({ page, document: once(() => documentOf(page)) }));
  const index = once(() => read.map(({ page, document }) => entry(page, document())));
  const first = once(() => firstCall(read.map(({ page, document }) => ({ ...page, document: document() }))));
  router.get('/', async (req, res) => {
    res.vary('Accept');
    if (req.accepts(['json', 'html']) === 'json')
      res.json({ name: 'Plinth', document: '/openapi.json', services: index() });
    else sendHtml(res, indexPage(index(), own, await start?.(req), first()));
  });
  for (const { page, document } of read) {
    router.get(`${page.prefix}/openapi.json`, (_req, res) => void res.json(document()));
    router.get(`${page.prefix}/docs`, (_req, res) => sendHtml(res, referencePage(page)));
  }
  if (services.every(({ prefix }) => prefix !== '')) {
    const merged = once(() =>
      mergeDocuments(read.map(({ page, document }) => ({ ...page, document: document() }))),
    );
    router.get('/openapi.json', (_req, res) => void res.json(merged()));
  }
  router.get('/scalar.js', (_req, res) => res.sendFile(scalar(), { maxAge: '1h' }));
  return router;
}

/** The compiled document, reduced to the operations that are served, with the paths and the server URL of this server. */
function documentOf({ document, prefix, basePath, operations }: Page): OpenApi {
  const parsed = JSON.parse(readFileSync(document, 'utf8')) as OpenApi;
  const part = operations ? partOf(parsed, operations) : parsed;
  const paths = Object.entries(part.paths).map(([path, item]) => [servedPath(path, basePath), item] as const);
  const servers = { servers: [{ url: prefix || '/' }] };
  return { ...part, paths: Object.fromEntries(paths), ...servers };
}

/** The part of the document that describes these operations. */
function partOf(document: OpenApi, operations: ReadonlySet<string>): OpenApi {
  const paths = Object.entries(document.paths).flatMap(([path, item]) => {
    const served = Object.entries(item).filter(([, { operationId }]) => operations.has(operationId));
    return served.length === 0 ? [] : [[path, Object.fromEntries(served)] as const];
  });
  const resources = new Set([...operations].map((id) => id.split('_', 1)[0]));
  const tags = document.tags.filter(({ name }) => resources.has(name));
  return { ...document, tags, paths: Object.fromEntries(paths) };
}

function entry({ name, title, prefix }: Page, { info }: OpenApi): IndexEntry {
  return {
    name,
    title,
    description: firstSentence(info.description ?? ''),
    base: prefix || '/',
    reference: `${prefix}/docs`,
    document: `${prefix}/openapi.json`,
  };
}

/** Returns the first sentence of a description, on one line. */
const firstSentence = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').split(/(?<=[.!?]) (?=[A-Z`])/, 1)[0]!;

/** Computes a value on first use and keeps it. */
function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** The path of the package's browser bundle, in a folder beside the entry that Node resolves. */
function scalar(): string {
  const entry = createRequire(import.meta.url).resolve('@scalar/api-reference');
  return join(dirname(entry), 'browser', 'standalone.js');
}

/**
 * Scalar mounts itself on the first element. It loads nothing from other servers and sends nothing to them, so its hosted
 * features (sharing, deploying, an assistant, an API client) are switched off.
 */
function referencePage({ title, prefix }: Page): HtmlPage {
  const configuration = {
    url: `${prefix}/openapi.json`,
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
  };
  return {
    title,
    policy: [
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      "font-src 'self' data:",
      "connect-src 'self'",
    ],
    body:
      `<script id="api-reference" data-configuration="${escapeHtml(JSON.stringify(configuration))}"></script>` +
      `<script src="/scalar.js"></script>`,
  };
}
