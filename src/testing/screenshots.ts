/**
 * Takes a picture of every hosted page and of the start page, at a phone's and a desktop's width, light and dark, with and without branding:
 * `npm run screenshots [folder]`.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import {
  journeyPlace,
  journeys,
  type Journey,
  type JourneyPlace,
} from '../services/auth/testing/journeys.ts';
import { childServer } from './child-server.ts';
import { findChromium, launchChromium } from './chromium.ts';

/** One look without branding, and one whose branding is as different as possible. */
const looks: Readonly<Record<string, object | undefined>> = {
  plain: undefined,
  branded: {
    primary_color: '#0f766e',
    company_name: 'Analytical Engines',
    tagline: 'Machines that reckon',
  },
};
const widths = [360, 1280];
const schemes = ['light', 'dark'] as const;

const path = findChromium();
if (!path) throw new Error('no Chromium on PATH, nor at PLINTH_CHROMIUM');
const folder = resolve(process.argv[2] ?? 'screenshots');
const browser = await launchChromium(path);
try {
  for (const look of Object.keys(looks)) await takeAll(browser, look);
} finally {
  await browser.close();
}

/** Takes the pictures of one look, on a server of its own. */
async function takeAll(browser: Browser, look: string): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'plinth-screenshots-'));
  const env = {
    PLINTH_DATA_DIR: data,
    PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1',
    PLINTH_AUTH_CLIENT_REGISTRATION: 'open',
    PLINTH_AUTH_RATE_LIMIT: 'off',
  };
  const server = await childServer({ services: ['auth'], env });
  try {
    const place = await journeyPlace(server, looks[look]);
    for (const scheme of schemes)
      for (const width of widths) {
        const into = join(folder, look, scheme, String(width));
        await mkdir(into, { recursive: true });
        const context = { colorScheme: scheme, viewport: { width, height: 800 } };
        for (const journey of [...Object.values(journeys), startPage(server.url)])
          await takeJourney(browser, place, into, context, journey);
      }
    await place.close();
  } finally {
    await server.kill();
    await rm(data, { recursive: true });
  }
}

/** The start page of the server, as a journey of one stop. */
function startPage(url: string) {
  return async ({ page, stop }: Journey): Promise<void> => {
    await page.goto(url);
    await stop('start');
  };
}

/** Takes a picture at every stop of a journey. */
async function takeJourney(
  browser: Browser,
  place: JourneyPlace,
  into: string,
  options: BrowserContextOptions,
  journey: (journey: Journey) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const stop = async (name: string) => {
    const file = join(into, `${name}.png`);
    await page.evaluate('Promise.all([...document.images].map((one) => one.decode().catch(() => {})))');
    await page.screenshot({ path: file, fullPage: true });
    console.log(file);
  };
  await journey({ page, place, stop });
  await context.close();
}
