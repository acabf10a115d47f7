/** Tests the documentation in a browser. */
import axe from 'axe-core';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Manifest } from '../../src/http/site/manifest.ts';
import { findChromium, launchChromium } from '../../src/testing/chromium.ts';
import { emptyPage, fits } from './browser.ts';
import { builtSite, pagesServer } from './server.ts';

const path = findChromium();
// Printed, because reporters do not say why a test is skipped.
if (!path)
  console.warn('site/test/site.browser.test.ts is skipped: no Chromium on PATH, nor at PLINTH_CHROMIUM');

const samples = ['/docs/', '/docs/production/', '/docs/reference/authz/', '/docs/reference/auth/accounts/'];

describe.skipIf(!path)('the documentation in Chromium', { timeout: 120_000 }, () => {
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

  /** A fifth of the pages; what each of them loads is tested without a browser. */
  const addresses = () => {
    const { files } = JSON.parse(readFileSync(join(builtSite, 'manifest.json'), 'utf8')) as Manifest;
    const all = Object.keys(files).filter((file) => file.endsWith('/index.html'));
    return all.filter((_, at) => at % 5 === 0).map((file) => `/${file.replace(/index\.html$/, '')}`);
  };

  test.each([
    ['with scripts', true],
    ['without scripts', false],
  ])('%s, no page asks another server for anything', async (_, scripts) => {
    const waiting = addresses();
    const all = waiting.length;
    let seen = 0;
    const visit = async () => {
      const { page, complaints, origins } = await emptyPage(browser, { scripts });
      for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
        await page.goto(server.origin + address);
        expect([address, await page.locator('h1').count()]).toEqual([address, 1]);
        seen += 1;
      }
      expect(complaints).toEqual([]);
      expect([...origins]).toEqual([server.origin]);
      await page.close();
    };
    await Promise.all([visit(), visit(), visit()]);
    expect(seen).toBe(all);
  });

  test.each(samples)('%s fits into narrow and wide windows', async (address) => {
    const { page } = await emptyPage(browser);
    await page.goto(server.origin + address);
    for (const width of [320, 390, 768, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect([width, await fits(page)]).toEqual([width, true]);
    }
    await page.close();
  });

  test.each(
    samples.flatMap((address) => (['light', 'dark'] as const).map((scheme) => [address, scheme] as const)),
  )('axe finds nothing on %s in %s colours', async (address, scheme) => {
    for (const width of [1280, 390]) {
      const { page } = await emptyPage(browser, { scheme, width });
      await page.goto(server.origin + address);
      expect(await findings(page)).toEqual([]);
      await page.close();
    }
  });

  test('the search finds an operation and leads to it', async () => {
    const { page, complaints, origins } = await emptyPage(browser);
    await page.goto(`${server.origin}/docs/`);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('textbox', { name: 'Search' }).fill('creates a role');
    await page.getByRole('link', { name: 'Creates a role' }).first().click();
    await page.waitForURL(/\/docs\/reference\/\w+\/roles\/.*#Roles_create$/);
    expect(complaints).toEqual([]);
    expect([...origins]).toEqual([server.origin]);
    await page.close();
  });

  test('without scripts the menu opens on a phone, the search says what it needs, and the colours follow the system', async () => {
    const { page } = await emptyPage(browser, { scripts: false, width: 390, scheme: 'light' });
    await page.goto(`${server.origin}/docs/reference/authz/roles/`);
    expect(await page.locator('.search-needs-scripts').isVisible()).toBe(true);
    expect(await page.getByRole('button', { name: 'Search' }).isVisible()).toBe(false);
    const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Permissions' });
    expect(await link.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await link.click();
    await page.waitForURL(/\/docs\/reference\/authz\/permissions\/$/);
    const white = (await page.screenshot({ clip: { x: 4, y: 700, width: 1, height: 1 } })).toString('base64');
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = (await page.screenshot({ clip: { x: 4, y: 700, width: 1, height: 1 } })).toString('base64');
    expect(white).not.toBe(dark);
    await page.close();
  });
});

/** What axe objects to, in a line each. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: axe.Result[] }>('axe.run()');
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')} ${failureSummary}`),
  );
}
