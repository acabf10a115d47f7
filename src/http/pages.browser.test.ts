/** Tests the pages for people in a browser. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../testing/chromium.ts';
import { demoServer } from './fixture/server.ts';

const path = findChromium();
// Printed, because reporters do not say why a test is skipped.
if (!path)
  console.warn('src/http/pages.browser.test.ts is skipped: no Chromium on PATH, nor at PLINTH_CHROMIUM');

const patience = { timeout: 60_000 };

describe.skipIf(!path)('in Chromium', { timeout: 120_000 }, () => {
  let server: Awaited<ReturnType<typeof demoServer>>;
  let browser: Browser;
  beforeAll(async () => {
    server = await demoServer();
    browser = await launchChromium(path!);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  /** Opens a page at this width, and records its error messages and its requests. */
  async function open(where: string, width: number) {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    const complaints: string[] = [];
    const origins = new Set<string>();
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (/^(https?|wss?):/.test(request.url())) origins.add(new URL(request.url()).origin);
    });
    // A schema library inside Scalar tests whether it may compile code, and works without that when it may not.
    await page.addInitScript(`addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      if (blockedURI !== 'eval') console.error('refused', violatedDirective, blockedURI);
    })`);
    await page.goto(server.origin + where);
    return { page, complaints, origins };
  }

  /** Whether the page is no wider than the window. */
  const fits = (page: Page) =>
    page.evaluate<boolean>('document.documentElement.scrollWidth <= document.documentElement.clientWidth');

  test.each([390, 1280])(
    'at %i pixels the reference shows the contract and talks to this server alone',
    async (width) => {
      const { page, complaints, origins } = await open('/demo/docs#tag/roles/POST/v1/roles', width);
      await page.getByRole('heading', { name: 'Creates a role' }).waitFor(patience);
      await page.getByText('--request POST').first().waitFor(patience);
      for (const name of ['Developer Tools', 'Share', 'Deploy', 'Ask AI', 'Open API Client'])
        expect([name, await page.getByText(name, { exact: true }).count()]).toEqual([name, 0]);
      expect(complaints).toEqual([]);
      expect([...origins]).toEqual([server.origin]);
      expect(await fits(page)).toBe(true);
      await page.close();
    },
  );

  test.each([390, 1280])('at %i pixels the index leads to the reference', async (width) => {
    const { page, complaints, origins } = await open('/', width);
    expect(await fits(page)).toBe(true);
    await page.getByRole('link', { name: 'API reference of demo' }).click();
    await page.waitForURL(`${server.origin}/demo/docs`, patience);
    await page.getByRole('heading', { name: 'Plinth authorization' }).waitFor(patience);
    expect(complaints).toEqual([]);
    expect([...origins]).toEqual([server.origin]);
    await page.close();
  });
});
