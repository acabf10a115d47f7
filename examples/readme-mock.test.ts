/** Runs the README's examples of the mock as they are printed. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../src/testing/chromium.ts';
import { blocks, examples, root } from './testing/readme.ts';
import { findBrowser, run, shell, start } from './testing/running.ts';

const chromium = findBrowser('examples/readme-mock.test.ts');

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

describe('the first five minutes with the mock and the SDK', () => {
  let mock: Awaited<ReturnType<typeof start>>;

  beforeAll(async () => {
    mock = await start(['mock', '--stateful'], tmpdir());
  });
  afterAll(() => void mock.child.kill('SIGTERM'));

  const at = blocks.findIndex(({ language }) => language === 'ts mock');
  const [script, printed] = blocks.slice(at, at + 2).map(({ text }) => text);
  const pointed = () => script?.replace('http://127.0.0.1:4010', mock.url) ?? '';

  it('are the script of examples/, which prints what is shown', async () => {
    expect(script).toBe(await readFile(join(root, 'examples/mock-calls.ts'), 'utf8'));
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
    const shown = examples('sh mock');
    const answers = await shell(
      shown.map((example) => example.script),
      { 'http://127.0.0.1:4010': mock.url },
    );
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.map((_, at) => JSON.parse(answers[at] ?? ''))).toEqual(shown.map(({ printed }) => printed));
  });
});
