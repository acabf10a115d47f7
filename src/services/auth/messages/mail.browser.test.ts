/** The mails in Chromium, on a phone and on a desktop, light and dark. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeFindings } from '../../../testing/axe.ts';
import { findChromium, launchChromium } from '../../../testing/chromium.ts';
import { type Look, plainLook } from '../look/look.ts';
import { mailOf, type Mail } from './mail.ts';
import { invitationMail, securityNotice, verifyEmailMail } from './message-texts.ts';

const path = findChromium();
// This is printed, because reporters do not say why a test is skipped.
if (!path)
  console.warn(
    'src/services/auth/messages/mail.browser.test.ts is skipped: no Chromium on PATH, nor at PLINTH_CHROMIUM',
  );

const logo_url = 'https://cdn.example.com/logo.svg';
/** It is much wider than a phone. */
const logo = '<svg xmlns="http://www.w3.org/2000/svg" width="2000" height="100"/>';
const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
const looks: Readonly<Record<string, Look>> = {
  plain: plainLook('Default app'),
  branded: { ...plainLook('Analytical Engines'), logo_url, tagline: 'Machines that reckon' },
  // Neither colour can be read on the other.
  pale: {
    ...plainLook('Engines'),
    primary_color: '#fef08a',
    accent_color: '#fde68a',
    background_color: '#fffbeb',
  },
  dark: { ...plainLook('Engines'), logo_url, background_color: '#0b1220', primary_color: '#1e293b' },
  hostile: plainLook(`<script>document.title = 'taken'</script>" onload="${long}`),
};
const link = `https://auth.example.com/v1/auth/pages/verify-email?token=vrf_${'0'.repeat(55)}&app_id=default`;
const told = [{ heading: 'New sign-in', sentence: 'Somebody signed in on a new device.' }];
const mailsOf = (name: string): readonly Mail[] => [
  verifyEmailMail(name, link),
  invitationMail(name, long, link),
  securityNotice(
    name,
    { told, at: new Date(0), byOther: false, device: long, ip: '2001:db8::1', isLast: true },
    link,
  ),
];

describe.skipIf(!path)('in Chromium', { timeout: 120_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(path!);
  }, 120_000);
  afterAll(() => browser.close());

  describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
    it.each(Object.entries(looks))('the look %s can be read at every width', async (_name, look) => {
      for (const width of [320, 600]) {
        const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
        const page = await context.newPage();
        const asked: string[] = [];
        await page.route('**', async (route) => {
          asked.push(route.request().url());
          await route.fulfill({ contentType: 'image/svg+xml', body: logo });
        });
        for (const mail of mailsOf(look.name)) {
          const { subject, html } = mailOf(mail, look);
          await page.setContent(html, { waitUntil: 'load' });
          // A mail is a part of the page of a mail program, which has the landmarks.
          const found = (await axeFindings(page)).filter((one) => !/^(landmark-one-main|region):/.test(one));
          const { title, fits } = await page.evaluate<{ title: string; fits: boolean }>(
            '({ title: document.title, fits: document.documentElement.scrollWidth <= innerWidth })',
          );
          expect({ found, title, fits }).toEqual({ found: [], title: subject, fits: true });
        }
        expect(new Set(asked)).toEqual(new Set(look.logo_url === null ? [] : [logo_url]));
        await context.close();
      }
    });
  });
});
