/** The hosted pages as axe judges them, light and dark, and what their script adds. */
import { rm } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeFindings } from '../../../testing/axe.ts';
import { childServer, type ChildServer } from '../../../testing/child-server.ts';
import { findChromium, launchChromium } from '../../../testing/chromium.ts';
import { migratedFolder } from '../../../testing/database.ts';
import { journeyPlace, journeys, signinAt, type JourneyPlace } from '../testing/journeys.ts';

const path = findChromium();
// This is printed, because reporters do not say why a test is skipped.
if (!path)
  console.warn(
    'src/services/auth/hosted/axe.browser.test.ts is skipped: no Chromium on PATH, nor at PLINTH_CHROMIUM',
  );

/** A narrow and a wide window, one for each scheme. */
const windows = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 320 },
] as const;

describe.skipIf(!path)('in Chromium', { timeout: 120_000 }, () => {
  let folder: string;
  let server: ChildServer;
  let place: JourneyPlace;
  let browser: Browser;
  beforeAll(async () => {
    folder = await migratedFolder(['auth']);
    const env = {
      PLINTH_DATA_DIR: folder,
      PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1',
      PLINTH_AUTH_CLIENT_REGISTRATION: 'open',
      PLINTH_AUTH_RATE_LIMIT: 'off',
    };
    server = await childServer({ services: ['auth'], env });
    place = await journeyPlace(server, { company_name: 'Analytical Engines', primary_color: '#0f766e' });
    browser = await launchChromium(path!);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await place.close();
    await server.kill();
    await rm(folder, { recursive: true });
  });

  describe.each(windows)('$colorScheme, at $width pixels', ({ colorScheme, width }) => {
    it.each(Object.keys(journeys))('axe finds nothing: %s', async (name) => {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
      const page = await context.newPage();
      const found: Record<string, string[]> = {};
      const stop = async (at: string) => {
        const findings = await axeFindings(page);
        if (findings.length > 0) found[at] = findings;
      };
      await journeys[name]!({ page, place, stop });
      expect(found).toEqual({});
      await context.close();
    });
  });

  it('a password can be shown, and is hidden again when it is sent', async () => {
    const page = await browser.newPage();
    await page.goto(signinAt(place, 'login'));
    await page.getByLabel('Email or username').fill('ada@example.com');
    const password = page.getByLabel('Password', { exact: true });
    await password.fill('secret');
    await page.getByRole('button', { name: 'Show password' }).click();
    expect(await password.getAttribute('type')).toBe('text');
    await page.evaluate(`document.forms[0].addEventListener('submit', (event) => event.preventDefault())`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Show password' }).waitFor();
    expect(await password.getAttribute('type')).toBe('password');
    await page.close();
  });
});
