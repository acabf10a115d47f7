import express from 'express';
import { fileURLToPath } from 'node:url';
import { services } from '../../generated/operations.ts';
import { listen } from '../../src/http/listen.ts';
import { createPages } from '../../src/http/pages.ts';

export const builtSite = fileURLToPath(new URL('../dist', import.meta.url));

const documentOf = (file: string) => new URL(`../../tsp-output/openapi/${file}.json`, import.meta.url);

/** The pages of a server that has all services of the contract, with the built site. */
export async function pagesServer() {
  const pages = Object.entries(services).map(([name, { title, document }]) => ({
    name,
    title,
    prefix: `/${name}`,
    document: documentOf(document),
  }));
  const app = express()
    .disable('etag')
    .use(createPages(pages, { own: [], site: builtSite }));
  const listening = await listen(app, { host: '127.0.0.1', port: 0 });
  return { origin: `http://127.0.0.1:${listening.port}`, close: () => listening.close(0) };
}
