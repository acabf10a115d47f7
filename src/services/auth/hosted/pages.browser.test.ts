/** The hosted pages, as people use them in a browser without scripts: on a phone and on a desktop. */
import { rm } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childServer, type ChildServer } from '../../../testing/child-server.ts';
import { findChromium, launchChromium } from '../../../testing/chromium.ts';
import { migratedFolder } from '../../../testing/database.ts';
import { contrast } from '../look/colors.ts';
import { journeyPlace, journeys, type JourneyPlace } from '../testing/journeys.ts';

const path = findChromium();
// This is printed, because reporters do not say why a test is skipped.
if (!path)
  console.warn(
    'src/services/auth/hosted/pages.browser.test.ts is skipped: no Chromium on PATH, nor at PLINTH_CHROMIUM',
  );

/** A name that is wider than a phone and has no place to break. */
const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';

describe.skipIf(!path)('in Chromium without scripts', { timeout: 120_000 }, () => {
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
    };
    server = await childServer({ services: ['auth'], env });
    place = await journeyPlace(server, { company_name: long, tagline: `${long} ${long}` });
    browser = await launchChromium(path!);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await place.close();
    await server.kill();
    await rm(folder, { recursive: true });
  });

  // The narrow one is also a desktop's window at 400 %, and half of it at 200 % (WCAG 2.2, 1.4.10).
  describe.each([320, 1280])('at %i pixels', (width) => {
    it.each(Object.keys(journeys))('%s', async (name) => {
      const context = await browser.newContext({
        javaScriptEnabled: false,
        viewport: { width, height: 800 },
      });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        // A page that reports a problem has an error status, which Chromium logs.
        if (message.type() === 'error' && !/status of 4\d\d/.test(message.text()))
          complaints.push(message.text());
      });
      await journeys[name]!({ page, place, stop: (at) => expectSound(at, page) });
      expect(complaints).toEqual([]);
      await context.close();
    });
  });
});

/** Checks that apply to every page: it fits, and its elements have names, are readable, are large enough, and are reachable by keyboard. */
async function expectSound(at: string, page: Page): Promise<void> {
  const found = await page.evaluate<Findings>(inspect);
  const unreadable = found.texts
    .map(({ text, color, ground }) => ({ text, ratio: contrast(hex(color), hex(ground)) }))
    .filter(({ ratio }) => ratio < 4.5);
  expect(
    { ...found, texts: unreadable, misfits: await misfitsOf(page), unseen: await unseenByKeys(page) },
    at,
  ).toEqual({
    lang: 'en',
    headings: 1,
    titled: true,
    unlabelled: [],
    dangling: [],
    repeated: [],
    small: [],
    texts: [],
    misfits: [],
    unseen: [],
  });
  expect(found.texts.length, at).toBeGreaterThan(1);
}

interface Findings {
  readonly lang: string;
  readonly headings: number;
  readonly titled: boolean;
  readonly unlabelled: readonly string[];
  readonly dangling: readonly string[];
  readonly repeated: readonly string[];
  readonly small: readonly string[];
  readonly texts: readonly { readonly text: string; readonly color: string; readonly ground: string }[];
}

/** This runs in the browser, whose types this program does not have. */
const inspect = `(() => {
  const all = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  const named = (one) => one.outerHTML.slice(0, 80);
  const controls = all('input:not([type=hidden]), select, textarea');
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  const groundOf = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (backgroundColor !== 'rgba(0, 0, 0, 0)') return backgroundColor;
    }
    return 'rgb(255, 255, 255)';
  };
  const says = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
  return {
    lang: document.documentElement.lang,
    headings: document.querySelectorAll('main h1').length,
    titled: document.title.includes(document.querySelector('h1').textContent),
    unlabelled: controls.filter((one) => !one.labels.length || !one.labels[0].textContent.trim()).map(named),
    dangling: [...document.querySelectorAll('[aria-describedby]')]
      .filter((one) => one.getAttribute('aria-describedby').split(' ').some((id) => !ids.includes(id)))
      .map(named),
    repeated: ids.filter((id, at) => ids.indexOf(id) !== at),
    small: all('button, select, textarea, summary, .links a, .choice, input:not([type=hidden], [type=checkbox], [type=radio])')
      .filter((one) => one.getBoundingClientRect().height < 44)
      .map(named),
    texts: all('main *').filter(says).map((one) => ({
      text: one.textContent.trim().slice(0, 40),
      color: getComputedStyle(one).color,
      ground: groundOf(one),
    })),
  };
})()`;

/** What scrolls sideways, lies outside the window or is cut off, in a page that is written from left to right and from right to left. */
async function misfitsOf(page: Page): Promise<string[]> {
  const misfits: string[] = [];
  for (const direction of ['rtl', 'ltr'])
    misfits.push(
      ...(await page.evaluate<string[]>(`(() => {
        const root = document.documentElement;
        root.dir = '${direction}';
        // The field of a code is wider than its cells, which hide the rest.
        const all = [...document.querySelectorAll('body *')].filter((one) => one.checkVisibility() && !one.closest('.cells'));
        const outside = ({ left, right, width }) => width > 0 && (left < -0.5 || right > root.clientWidth + 0.5);
        const cuts = (one) => getComputedStyle(one).overflowX !== 'visible' && !one.matches('input, select, textarea');
        return [
          ...(root.scrollWidth > root.clientWidth ? ['the page scrolls sideways'] : []),
          ...all
            .filter((one) => outside(one.getBoundingClientRect()) || (cuts(one) && one.scrollWidth > one.clientWidth + 1))
            .map((one) => one.outerHTML.slice(0, 80)),
        ].map((found) => root.dir + ': ' + found);
      })()`)),
    );
  return misfits;
}

/** Elements that get the keyboard focus without showing it. */
async function unseenByKeys(page: Page): Promise<string[]> {
  const unseen: string[] = [];
  const count = await page.evaluate<number>(
    `document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary').length`,
  );
  // One step more than there are elements: it starts behind the element that the page itself has focused.
  for (let step = 0; step <= count; step += 1) {
    await page.keyboard.press('Tab');
    const seen = await page.evaluate<string | null>(`(() => {
      const one = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(one);
      const cell = one.parentElement?.querySelector('.cells > i');
      const shows =
        one === document.body ||
        (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2) ||
        (cell && getComputedStyle(cell).boxShadow !== 'none');
      return shows ? null : one.outerHTML.slice(0, 80);
    })()`);
    if (seen !== null) unseen.push(seen);
  }
  return unseen;
}

/** Converts `rgb(24, 24, 27)` to `#18181b`. */
const hex = (color: string): string =>
  `#${(color.match(/\d+/g) ?? [])
    .slice(0, 3)
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('')}`;
