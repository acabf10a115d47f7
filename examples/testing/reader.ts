/** A reader who follows a page: runs what it shows, on a server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { findChromium } from '../../src/testing/chromium.ts';
import { root, type Page } from './pages.ts';
import { run } from './processes.ts';
import type { PageServer } from './setup.ts';

/** Runs blocks one after the other in one shell and answers what each printed. */
export async function shell(
  scripts: readonly string[],
  replacements: Readonly<Record<string, string>>,
): Promise<string[]> {
  const script = scripts.join("\necho '=== next ==='\n");
  const adapted = Object.entries(replacements).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    script,
  );
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', adapted], { cwd: root });
  return stdout.split('=== next ===\n');
}

/** What a reader of any page replaces: the address of the server, and the place of its root token. */
export const placesOf = ({ url, data }: PageServer): Record<string, string> => ({
  'http://127.0.0.1:4000': url,
  '.plinth/root-token': join(data, 'root-token'),
});

/** A shell in which a reader follows a page. */
export function readerOf(page: Page, server: PageServer, replacements: Record<string, string> = {}) {
  return {
    env: environmentOf(server),
    /** Runs a block, and the commands that follow it in the same shell. */
    run: async (fence: string, then = ''): Promise<string> => {
      const [printed = ''] = await shell(
        [`export PLINTH_ROOT_TOKEN=${server.rootToken}\n${page.textOf(fence)}\n${then}`],
        { ...placesOf(server), ...replacements },
      );
      return printed;
    },
  };
}

export const environmentOf = ({ url, rootToken }: PageServer): NodeJS.ProcessEnv => ({
  ...process.env,
  PLINTH_URL: url,
  PLINTH_ROOT_TOKEN: rootToken,
});

/** Runs a program of examples/ to its end, and answers what it printed. */
export async function runExample(file: string, env: NodeJS.ProcessEnv, cwd = root): Promise<string> {
  const { stdout } = await run(process.execPath, [join(root, 'examples', file)], { cwd, env });
  return stdout;
}

/** Starts a program of examples/ that runs until it is stopped. */
export function startExample(file: string, env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [`examples/${file}`], { cwd: root, env });
  // A test that fails half-way must not leave a program behind.
  process.once('exit', () => child.kill('SIGKILL'));
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, 'exit');
  return {
    printed: () => text,
    prints: (what: string) => expect.poll(() => text, { timeout: 20_000 }).toContain(what),
    async stop(signal: NodeJS.Signals) {
      child.kill(signal);
      await ended;
    },
  };
}

/** Expects that a page shows a program of examples/ as it is. */
export async function expectShown(page: Page, fence: string, file: string): Promise<void> {
  expect(page.textOf(fence), file).toBe(await readFile(join(root, 'examples', file), 'utf8'));
}

/** Finds a browser, or says that there is none, because reporters do not say why a test is skipped. */
export function findBrowser(file: string): string | undefined {
  const chromium = findChromium();
  if (!chromium) console.warn(`${file} shows no page: no Chromium on PATH, nor at PLINTH_CHROMIUM`);
  return chromium;
}
