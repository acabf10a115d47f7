import express, { type RequestHandler } from 'express';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { version } from '../lib/version.ts';
import { type BasePath, servedPath } from './base-path.ts';
import { firstCall } from './first-call.ts';
import { sendHtml } from './html.ts';
import { type IndexEntry, indexPage, type OwnLink } from './index-page.ts';
import { mergeDocuments, type OpenApi } from './merged-document.ts';
import { createFiles } from './site/manifest.ts';
import { notBuiltPage, referencePage, staticReference } from './site/reference.ts';
import { staticFiles } from './site/static.ts';
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

/** Where `npm run docs` builds the documentation. */
const builtSite = fileURLToPath(new URL('../../site/dist', import.meta.url));

export interface PagesOptions {
  /** Links of the index to what the server has of its own. */
  readonly own?: readonly OwnLink[];
  /** The folder of the built documentation. */
  readonly site?: string;
  /** What the index tells about the server to whoever opens it. */
  readonly start?: ReturnType<typeof createStart>;
}

/**
 * Serves an index of the services, the documentation, and for each service its OpenAPI document and its interactive reference.
 * Unless a service runs alone, there is also one merged document of all services.
 */
export function createPages(
  services: readonly Page[],
  { own = ownLinks, site = builtSite, start }: PagesOptions = {},
): Pages {
  const router = express.Router();
  const read = services.map((page) => ({ page, document: once(() => documentOf(page)) }));
  const index = once(() => read.map(({ page, document }) => entry(page, document())));
  const first = once(() => firstCall(read.map(({ page, document }) => ({ ...page, document: document() }))));
  router.get('/', async (req, res) => {
    res.vary('Accept');
    if (req.accepts(['json', 'html']) === 'json')
      res.json({ name: 'Plinth', document: '/openapi.json', services: index() });
    else
      sendHtml(res, indexPage(index(), [['/docs/', 'documentation'], ...own], await start?.(req), first()));
  });
  for (const { page, document } of read) {
    router.get(`${page.prefix}/openapi.json`, (_req, res) => void res.json(document()));
  }
  if (services.every(({ prefix }) => prefix !== '')) {
    const merged = once(() =>
      mergeDocuments(read.map(({ page, document }) => ({ ...page, document: document() }))),
    );
    router.get('/openapi.json', (_req, res) => void res.json(merged()));
  }
  const files = createFiles(site);
  for (const { name, title, prefix } of services) {
    router.get(`/${name}/docs`, (_req, res) => {
      const known = files();
      const bundle = [...known.keys()].find((file) => file.startsWith('interactive/'));
      if (bundle !== undefined)
        sendHtml(
          res,
          referencePage({ name, title, document: `${prefix}/openapi.json`, bundle: `/${bundle}` }),
        );
      else if (known.size > 0) res.redirect(staticReference(name));
      else sendHtml(res.status(404), notBuiltPage);
    });
  }
  router.use(staticFiles(site, files));
  router.get(['/docs', '/docs/*path'], (_req, res) => sendHtml(res.status(404), notBuiltPage));
  return router;
}

/** The compiled document, reduced to the operations that are served, with the paths and the server URL of this server. */
function documentOf({ document, prefix, basePath, operations }: Page): OpenApi {
  const parsed = JSON.parse(readFileSync(document, 'utf8')) as OpenApi;
  const part = operations ? partOf(parsed, operations) : parsed;
  const paths = Object.entries(part.paths).map(([path, item]) => [servedPath(path, basePath), item] as const);
  const servers = { servers: [{ url: prefix || '/' }] };
  // Whoever reads it at a server wants to know which release answers.
  return { ...part, info: { ...part.info, version }, paths: Object.fromEntries(paths), ...servers };
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
    reference: `/${name}/docs`,
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
