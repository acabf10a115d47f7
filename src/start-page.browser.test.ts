/** The start page in a browser: it leads somebody who has just started the server. */
import { rm } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeFindings } from './testing/axe.ts';
import { childServer, type ChildServer } from './testing/child-server.ts';
import { findChromium, launchChromium } from './testing/chromium.ts';
import { migratedFolder } from './testing/database.ts';

const path = findChromium();
// This is printed, because reporters do not say why a test is skipped.
if (!path)
  console.warn('src/start-page.browser.test.ts is skipped: no Chromium on PATH, nor at PLINTH_CHROMIUM');

describe.skipIf(!path)('in Chromium', { timeout: 60_000 }, () => {
  let folder: string;
  let server: ChildServer;
  let browser: Browser;
  beforeAll(async () => {
    folder = await migratedFolder(['auth', 'authz']);
    server = await childServer({ services: ['auth', 'authz'], env: { PLINTH_DATA_DIR: folder } });
    browser = await launchChromium(path!);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await server.kill();
    await rm(folder, { recursive: true });
  });

  it.each([
    { colorScheme: 'light', width: 1280 },
    { colorScheme: 'dark', width: 320 },
  ] as const)('axe finds nothing, and it fits: $colorScheme, at $width pixels', async (window) => {
    const { colorScheme, width } = window;
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 } });
    await page.goto(server.url);
    expect(await axeFindings(page)).toEqual([]);
    const widest = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(widest).toBe(width);
    await page.close();
  });

  it('shows the status, a first call that works, and the way into the mailbox', async () => {
    const page = await browser.newPage();
    await page.goto(server.url);
    await page.getByText('Ready', { exact: true }).waitFor();
    const [, call = ''] = /curl (\S+)/.exec((await page.getByText('curl').textContent()) ?? '') ?? [];
    const { pathname } = new URL(call);
    expect((await server.request('GET', pathname)).status).toBe(200);
    await page.getByRole('link', { name: 'Open the development mailbox' }).click();
    await page.getByRole('heading', { name: 'Development mailbox' }).waitFor();
    await page.close();
  });
});
