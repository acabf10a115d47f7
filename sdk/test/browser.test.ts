import { accessSync, constants } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Outcome } from './browser.program.ts';
import { serve, type Received, type Reply, type Respond } from './server.ts';

const flags =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking ' +
  '--disable-component-update --disable-sync';

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** `PLINTH_CHROMIUM`, else the first of the usual names on the path. */
function findChromium(): string | undefined {
  const { PLINTH_CHROMIUM: given, PATH = '' } = process.env;
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const found = PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  return (given ? [given] : found).find(executable);
}

/** The headers that the real server also has to send to a page of another origin. */
const cors = ({ headers }: Received) => ({
  'Access-Control-Allow-Origin': headers.origin ?? '*',
  'Access-Control-Expose-Headers': 'ETag, X-Next-Cursor, X-Request-ID, Retry-After, X-Revision',
});
const preflight = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'Access-Control-Allow-Headers':
    'Authorization, X-API-Key, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-Tenant-ID, X-App-ID, X-User-ID, X-Subject-ID',
};

/** The operations that the program calls; each path says what is to happen. */
function api(): Respond {
  let tries = 0;
  const answer = ({ method, url, headers }: Received): Reply | undefined => {
    const { pathname, searchParams } = new URL(url, 'http://host');
    if (method === 'OPTIONS') return { status: 204, headers: preflight };
    switch (`${method} ${pathname}`) {
      case 'POST /authz/v1/roles':
        return { status: 201, body: { id: 'role_1', name: 'Editor' } };
      case 'GET /authz/v1/roles/role_missing': {
        const body = { error: { code: 503, message: 'store unavailable' } };
        return { status: 503, body, headers: { 'X-Request-ID': 'req-1', 'Retry-After': '9' } };
      }
      case 'GET /things/v1/things': {
        const from = Number(searchParams.get('cursor') ?? 0);
        return {
          body: [{ id: from }, { id: from + 1 }],
          headers: from < 4 ? { 'X-Next-Cursor': String(from + 2) } : {},
        };
      }
      case 'GET /things/v1/things/busy-once':
        tries += 1;
        return tries === 1 ? { status: 429, headers: { 'Retry-After': '1' } } : { body: { id: tries } };
      case 'GET /things/v1/things/elsewhere':
        return { status: 307, headers: { Location: '/things/v1/things/1' } };
      case 'PUT /things/objects/a/b':
        return { status: headers['content-type'] === 'text/csv' ? 204 : 415 };
      case 'GET /things/objects/a/b':
        return { headers: { 'Content-Type': 'text/csv', ETag: '"1"' }, body: 'bytes' };
      case 'GET /things/v1/things/record':
        return headers.accept === 'application/json' ? { body: [{ id: 1 }] } : undefined;
      case 'GET /billing/billing/plans': {
        const offset = Number(searchParams.get('offset') ?? 0);
        return { body: { data: [{ name: `plan ${offset}` }], pagination: { has_more: offset < 2 } } };
      }
      default:
        return undefined;
    }
  };
  return (request, response) => {
    if (request.url === '/things/v1/things/events' && request.method === 'GET') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', ...cors(request) });
      response.write(':\r\n\r\nevent: token\r\nid: 7\r\ndata: grö');
      response.write('ße\r\n\r\nevent: changed\r\ndata: {"id":1}\r\n\r\n');
      return undefined;
    }
    const reply = answer(request);
    return reply && { ...reply, headers: { ...reply.headers, ...cors(request) } };
  };
}

const outcome: Outcome = {
  created: { id: 'role_1', name: 'Editor' },
  listed: [0, 1, 2, 3, 4, 5],
  failure: expect.objectContaining({
    name: 'PlinthError',
    kind: 'response',
    status: 503,
    code: 503,
    message: 'store unavailable',
    requestId: 'req-1',
    retryAfter: 9,
  }),
  repeated: { id: 2 },
  events: [
    { event: 'token', id: '7', data: 'größe' },
    { event: 'changed', id: '7', data: { id: 1 } },
  ],
  aborted: 'abort',
  timedOut: 'timeout',
  unreachable: 'connection',
  redirected: 'response',
  uploaded: 204,
  downloaded: ['"1"', 'text/csv', 'bytes'],
  wrapped: ['plan 0', 'plan 1', 'plan 2'],
  recorded: [{ id: 1 }],
  verified: { type: 'größe' },
};

const path = findChromium();
// Printed, because reporters do not say why a test is skipped.
if (!path) console.warn('sdk/test/browser.test.ts is skipped: no Chromium on PATH, nor at PLINTH_CHROMIUM');

describe.skipIf(!path)('in Chromium, from a page of another origin', () => {
  let browser: Browser;
  let pages: Server;
  let page: Page;

  beforeAll(async () => {
    const program = fileURLToPath(new URL('browser.program.ts', import.meta.url));
    const { outputFiles } = await build({
      entryPoints: [program],
      bundle: true,
      format: 'esm',
      write: false,
    });
    pages = createServer((request, response) => {
      const isProgram = request.url === '/program.js';
      response.writeHead(200, { 'Content-Type': isProgram ? 'text/javascript' : 'text/html' });
      response.end(isProgram ? outputFiles[0]?.text : '<script type="module" src="/program.js"></script>');
    });
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
    browser = await chromium.launch({ executablePath: path ?? '', args: flags.split(' ') });
    page = await browser.newPage();
    await page.goto(`http://localhost:${(pages.address() as AddressInfo).port}/`);
  });

  afterAll(async () => {
    await browser.close();
    pages.close();
  });

  it('the client does in a page what it does in Node', async () => {
    const { url, requests } = await serve(api());
    expect(await page.evaluate(`run(${JSON.stringify(url)})`)).toEqual(outcome);
    const sent = requests.find(({ method }) => method === 'POST');
    expect(sent).toMatchObject({
      body: '{"name":"Editor"}',
      headers: { authorization: 'Bearer token', 'x-tenant-id': 'acme', 'idempotency-key': 'k' },
    });
  });

  it('the client does in a worker what it does in Node', async () => {
    const { url } = await serve(api());
    const received = await page.evaluate(async (baseUrl) => {
      const worker = new Worker(`/program.js#${encodeURIComponent(baseUrl)}`, { type: 'module' });
      try {
        return await new Promise<unknown>((resolve, reject) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = ({ message }) => reject(new Error(message));
        });
      } finally {
        worker.terminate();
      }
    }, url);
    expect(received).toEqual(outcome);
  });
});
