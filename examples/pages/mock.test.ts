/** Runs the examples of docs/mock.md as they are printed. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../../src/testing/chromium.ts';
import { jsonForm } from '../testing/forms.ts';
import { readPage, root } from '../testing/pages.ts';
import { run, start, stop } from '../testing/processes.ts';
import { expectShown, findBrowser, shell } from '../testing/reader.ts';

const shown = await readPage('docs/mock.md');
const chromium = findBrowser('examples/pages/mock.test.ts');

/** Returns the script as one file for browsers. */
async function bundled(script: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: script, loader: 'ts', resolveDir: root },
    bundle: true,
    format: 'esm',
    minify: true,
    write: false,
  });
  return outputFiles[0]?.text.replaceAll('</script', '<\\/script') ?? '';
}

describe('the first five minutes with the mock', () => {
  let mock: Awaited<ReturnType<typeof start>>;

  beforeAll(async () => {
    mock = await start(['mock', '--stateful'], tmpdir());
  });
  afterAll(() => stop(mock.child));

  const printed = shown.textAfter('ts mock');
  const pointed = () => shown.textOf('ts mock').replace('http://127.0.0.1:4010', mock.url);

  it('are the script of examples/, which prints what is shown', async () => {
    await expectShown(shown, 'ts mock', 'mock-calls.ts');
    const running = run(process.execPath, ['--input-type=module-typescript', '-'], { cwd: root });
    running.child.stdin?.end(pointed());
    expect((await running).stdout).toBe(printed);
  });

  it.skipIf(!chromium)('say the same in a page', async () => {
    // A mock with a memory of its own.
    const program = await bundled(
      pointed().replace("token: 'any'", "token: 'any', headers: { 'X-Tenant-ID': 'page' }"),
    );
    const pages = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html').end(`<script type="module">${program}</script>`);
    }).listen(0, '127.0.0.1');
    const browser = await launchChromium(chromium!);
    try {
      const page = await browser.newPage();
      const said: string[] = [];
      page.on('console', (message) => message.type() === 'log' && said.push(`${message.text()}\n`));
      page.on('pageerror', (error) => said.push(error.message));
      await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
      await expect.poll(() => said.join(''), { timeout: 20_000 }).toBe(printed);
    } finally {
      await browser.close();
      pages.close();
    }
  });

  it('have commands that answer what is shown', async () => {
    const commands = shown.commands('sh mock');
    const answers = await shell(
      commands.map(({ script }) => script),
      { 'http://127.0.0.1:4010': mock.url },
    );
    expect(commands.length).toBeGreaterThan(0);
    for (const [at, { printed }] of commands.entries())
      expect(jsonForm(answers[at] ?? '')).toEqual(jsonForm(printed?.text ?? ''));
  });
});
