/** Two browsers, and two tabs of one, edit the to-do list of the example together, without a connection, and together again. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childServer, type ChildServer } from '../../src/testing/child-server.ts';
import { launchChromium } from '../../src/testing/chromium.ts';
import { findBrowser } from '../testing/reader.ts';

const chromium = findBrowser('examples/todo/todo.test.ts');

describe.skipIf(!chromium)('the to-do example, in Chromium', () => {
  let data: string;
  let plinth: ChildServer;
  let pages: ChildProcess;
  let address: string;
  let browser: Browser;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'plinth-todo-'));
    const env = { PLINTH_DATA_DIR: data, PLINTH_ANONYMOUS: 'root', PLINTH_CORS_ORIGINS: '*' };
    // With a second service, the address of each contains its name, as in an all-in-one server.
    plinth = await childServer({ services: ['sync', 'keys'], env });
    pages = spawn(process.execPath, [fileURLToPath(new URL('serve.ts', import.meta.url))], {
      env: { ...process.env, PLINTH_URL: plinth.url, PORT: '0' },
    });
    process.once('exit', () => pages.kill('SIGKILL'));
    const [printed] = (await once(pages.stdout!, 'data')) as [Buffer];
    address = /http:\S+/.exec(printed.toString())![0];
    browser = await launchChromium(chromium!);
  }, 120_000);

  afterAll(async () => {
    await browser.close();
    pages.kill();
    await plinth.kill();
    await rm(data, { recursive: true });
  });

  const opened = async (context: BrowserContext) => {
    const page = await context.newPage();
    await page.goto(address);
    await page.getByRole('status').waitFor();
    return page;
  };
  const status = (page: Page) => expect.poll(() => page.getByRole('status').textContent());
  const list = (page: Page) =>
    page.evaluate(() =>
      [...document.querySelectorAll('li')].map((item) => {
        const [box, text] = item.querySelectorAll('input');
        return [box?.checked ? 'x' : '-', text?.value, item.querySelector('button')?.textContent].join(' ');
      }),
    );
  const add = async (page: Page, title: string) => {
    await page.getByLabel('What is to be done').fill(title);
    await page.getByRole('button', { name: 'Add' }).click();
    await expect.poll(() => list(page)).toContain(`- ${title} +0`);
  };
  const item = (page: Page, at: number) => page.locator('li').nth(at);
  const rename = async (page: Page, at: number, title: string) => {
    await item(page, at).locator('input[type=text]').fill(title);
    await item(page, at).locator('input[type=text]').press('Enter');
    await expect.poll(async () => (await list(page))[at]).toContain(title);
  };
  const vote = async (page: Page, at: number, votes: string) => {
    await item(page, at).getByTitle('Vote').click();
    await expect.poll(async () => (await list(page))[at]).toContain(votes);
  };

  it('is one list again after both edited it offline', async () => {
    const [one, other] = await Promise.all([browser.newContext(), browser.newContext()]);
    const [here, there] = await Promise.all([opened(one), opened(other)]);
    await add(here, 'Milk');
    await add(here, 'Bread');
    await add(here, 'Eggs');
    await expect.poll(() => list(there)).toEqual(['- Milk +0', '- Bread +0', '- Eggs +0']);

    await Promise.all([one.setOffline(true), other.setOffline(true)]);
    await status(here).toContain('offline');
    await status(there).toContain('offline');
    await rename(here, 0, 'Oat milk');
    await vote(here, 0, '+1');
    await vote(there, 0, '+1');
    await vote(there, 0, '+2');
    await item(there, 0).locator('input[type=checkbox]').check();
    await item(there, 1).getByTitle('Delete').click();
    await add(there, 'Butter');
    await status(here).toMatch(/^offline, [1-9]\d* to push$/);

    await Promise.all([one.setOffline(false), other.setOffline(false)]);
    const expected = ['x Oat milk +3', '- Eggs +0', '- Butter +0'];
    await expect.poll(() => list(here)).toEqual(expected);
    await expect.poll(() => list(there)).toEqual(expected);
    await status(here).toBe('live, 0 to push');
    await Promise.all([one.close(), other.close()]);
  });

  it('keeps what was written without the server when the page is closed', async () => {
    const context = await browser.newContext();
    const before = await opened(context);
    await status(before).toContain('live');
    await context.route(`${plinth.url}/**`, (route) => route.abort());
    await before.reload();
    await add(before, 'Written offline');
    await status(before).toMatch(/^offline, [1-9]\d* to push$/);
    await before.close();
    const after = await opened(context);
    await expect.poll(() => list(after)).toContain('- Written offline +0');
    const elsewhere = await browser.newContext();
    const there = await opened(elsewhere);
    await status(there).toBe('live, 0 to push');
    expect(await list(there)).not.toContain('- Written offline +0');
    await context.unroute(`${plinth.url}/**`);
    await expect.poll(() => list(there)).toContain('- Written offline +0');
    await Promise.all([context.close(), elsewhere.close()]);
  });

  it('has tabs that are one replica, of which one is connected, until it is closed', async () => {
    const context = await browser.newContext();
    const streams: Page[] = [];
    context.on('request', (request) => {
      if (request.url().includes('/stream')) streams.push(request.frame().page());
    });
    const first = await opened(context);
    await status(first).toContain('live');
    const second = await opened(context);
    await status(second).toContain('live');
    expect(new Set(streams)).toEqual(new Set([first]));
    await add(second, 'From the second tab');
    await expect.poll(() => list(first)).toContain('- From the second tab +0');
    await status(second).toBe('live, 0 to push');
    await first.close();
    await expect.poll(() => streams.at(-1) === second).toBe(true);
    await status(second).toBe('live, 0 to push');
    await add(second, 'From the tab that is left');
    const elsewhere = await browser.newContext();
    const there = await opened(elsewhere);
    await expect.poll(() => list(there)).toContain('- From the tab that is left +0');
    await Promise.all([context.close(), elsewhere.close()]);
  });
});
