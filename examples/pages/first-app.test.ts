/** Runs the programs of docs/first-app.md as they are printed. */
import { expect, inject, it } from 'vitest';
import { launchChromium } from '../../src/testing/chromium.ts';
import { readPage } from '../testing/pages.ts';
import { freePort } from '../testing/processes.ts';
import { environmentOf, expectShown, findBrowser, runExample, startExample } from '../testing/reader.ts';

const page = await readPage('docs/first-app.md');
const chromium = findBrowser('examples/pages/first-app.test.ts');

/** Replaces random text by its form. */
const withoutSecrets = (text: string) =>
  text
    .replace(/[A-Z2-7]{32}/, 'SECRET')
    .replace(/\w{4}-\w{4}-\w{4}/, 'RECOVERY')
    .replace(/ada-\w+@/, 'ADA@')
    .replace(/client_\w+/, 'CLIENT')
    .replace(/sec_\w+/, 'SECRET');

it('the page shows a first app, which runs twice, and a program where its user signs in through the pages', async () => {
  await expectShown(page, 'ts first-app', 'first-app.ts');
  await expectShown(page, 'ts relying-party', 'relying-party.ts');
  const relyingParty = `http://127.0.0.1:${await freePort()}`;
  const env = { ...environmentOf(inject('pageServer')), RELYING_PARTY: relyingParty };
  await runExample('first-app.ts', env);
  const printed = await runExample('first-app.ts', env);
  expect(withoutSecrets(printed), 'a second run').toBe(withoutSecrets(page.textAfter('ts first-app')));
  const [email = ''] = /ada-\w+@example\.com/.exec(printed) ?? [];
  if (!chromium) return;

  const client = Object.fromEntries(
    [...printed.matchAll(/(CLIENT_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  );
  const party = startExample('relying-party.ts', { ...env, ...client });
  const browser = await launchChromium(chromium);
  try {
    await party.prints(`Open ${relyingParty} in a browser\n`);
    const tab = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    await tab.goto(relyingParty);
    await tab.getByLabel('Email or username').fill(email);
    await tab.getByLabel('Password').fill('correct horse battery staple');
    await tab.getByRole('button', { name: 'Sign in' }).click();
    await tab.getByText('Use a recovery code instead').click();
    await tab.getByLabel('Recovery code').fill(/\w{4}-\w{4}-\w{4}/.exec(printed)?.[0] ?? '');
    await tab.keyboard.press('Enter');
    await tab.getByRole('button', { name: 'Allow' }).click();
    await tab.waitForURL((url) => url.origin === relyingParty);
    expect(await tab.textContent('body')).toContain(`Welcome, Ada Lovelace! Your address is ${email}.`);
    // The callback once more, as after a reload.
    await tab.goto(`${relyingParty}/callback?code=spent&state=spent`);
    expect(await tab.textContent('body')).toContain('Welcome, Ada Lovelace!');
  } finally {
    await browser.close();
    await party.stop('SIGTERM');
  }
});
