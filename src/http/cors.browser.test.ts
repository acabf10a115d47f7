/** Tests that a browser lets pages of another origin do what `cors.ts` is meant to allow. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../testing/chromium.ts';
import { demoServer, token } from './fixture/server.ts';

const path = findChromium();
// Printed, because reporters do not say why a test is skipped.
if (!path)
  console.warn('src/http/cors.browser.test.ts is skipped: no Chromium on PATH, nor at PLINTH_CHROMIUM');

interface Sent {
  method?: string;
  headers: Record<string, string>;
  body?: string;
}
type Demo = Awaited<ReturnType<typeof demoServer>>;

describe.skipIf(!path)('in Chromium, a page of another origin', { timeout: 120_000 }, () => {
  let page: Page;
  let browser: Browser;
  let origin: Demo;
  let server: Demo;
  beforeAll(async () => {
    origin = await demoServer();
    server = await demoServer({ origins: [origin.origin] });
    browser = await launchChromium(path!);
    page = await browser.newPage();
    await page.goto(`${origin.origin}/healthz`);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await Promise.all([origin.close(), server.close()]);
  });

  /** Returns what the page gets: the status and readable headers of the response, or the name of the error. */
  const send = (to: Demo, where: string, init: Sent) =>
    page.evaluate(
      async ([url, options]) => {
        try {
          const response = await fetch(url, options);
          return { status: response.status, headers: [...response.headers.keys()] };
        } catch (error) {
          return error instanceof Error ? error.name : 'unknown';
        }
      },
      [to.url + where, init] as const,
    );

  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'idempotency-key': 'once',
    'x-tenant-id': 'acme',
  };

  test('that is known writes with a token and reads the documented headers', async () => {
    const made = await send(server, '/v1/things', { method: 'POST', headers, body: '{"name":"a"}' });
    expect(made).toMatchObject({ status: 201 });
    const queued = await send(server, '/v1/things/queue', { method: 'POST', headers });
    expect(queued).toEqual({ status: 202, headers: expect.arrayContaining(['x-request-id', 'x-revision']) });
    expect(await send(server, '/v1/nothing', { headers })).toMatchObject({ status: 404 });
  });

  test('that is not known reads nothing, and its writes are not even sent', async () => {
    const created = origin.state.created;
    await page.goto(`${server.origin}/healthz`);
    expect(await send(origin, '/v1/things', { headers })).toBe('TypeError');
    expect(await send(origin, '/v1/things', { method: 'POST', headers, body: '{"name":"a"}' })).toBe(
      'TypeError',
    );
    expect(origin.state.created).toBe(created);
    await page.goto(`${origin.origin}/healthz`);
  });
});
