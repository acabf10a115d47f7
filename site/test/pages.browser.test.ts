/** Tests the start page and the interactive reference in a browser. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../../src/testing/chromium.ts';
import { emptyPage, fits, type Look } from './browser.ts';
import { pagesServer } from './server.ts';
import { version } from '../../src/lib/version.ts';

const path = findChromium();
// Printed, because reporters do not say why a test is skipped.
if (!path)
  console.warn('site/test/pages.browser.test.ts is skipped: no Chromium on PATH, nor at PLINTH_CHROMIUM');

const patience = { timeout: 60_000 };

describe.skipIf(!path)('in Chromium', { timeout: 120_000 }, () => {
  let server: Awaited<ReturnType<typeof pagesServer>>;
  let browser: Browser;
  beforeAll(async () => {
    server = await pagesServer();
    browser = await launchChromium(path!);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  async function open(where: string, look: Look) {
    const opened = await emptyPage(browser, look);
    await opened.page.goto(server.origin + where);
    return opened;
  }

  test.each([390, 1280])(
    'at %i pixels the start page leads to the interactive reference, which shows the contract and leads back',
    async (width) => {
      const { page, complaints, origins } = await open('/', { width });
      expect(await fits(page)).toBe(true);
      await page.getByRole('link', { name: 'API reference of authz' }).click();
      await page.waitForURL(`${server.origin}/authz/docs`, patience);
      await page.getByRole('heading', { name: 'Plinth authorization' }).waitFor(patience);
      await page.getByText(`v${version}`, { exact: true }).waitFor(patience);
      await page.goto(`${server.origin}/authz/docs#tag/roles/POST/v1/roles`);
      await page.getByRole('heading', { name: 'Creates a role' }).waitFor(patience);
      await page.getByText('--request POST').first().waitFor(patience);
      for (const name of ['Developer Tools', 'Share', 'Deploy', 'Ask AI', 'Open API Client'])
        expect([name, await page.getByText(name, { exact: true }).count()]).toEqual([name, 0]);
      expect(await fits(page)).toBe(true);
      await page.getByRole('link', { name: 'Plinth', exact: true }).click();
      await page.waitForURL(`${server.origin}/`, patience);
      expect(complaints).toEqual([]);
      expect([...origins]).toEqual([server.origin]);
      await page.close();
    },
  );

  test('without scripts the interactive reference leads to the static one', async () => {
    const { page, origins } = await open('/authz/docs', { scripts: false });
    await page.getByRole('paragraph').getByRole('link', { name: 'static reference' }).click();
    await page.waitForURL(`${server.origin}/docs/reference/authz/`, patience);
    expect([...origins]).toEqual([server.origin]);
    await page.close();
  });
});
