/** Runs what the README shows: servers, shells and programs. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { findChromium } from '../../src/testing/chromium.ts';
import { root, textOf } from './readme.ts';

export const run = promisify(execFile);

/**
 * Starts `src/main.ts` on a free port, which is chosen beforehand because `auth` names its address in tokens. Resolves when the
 * server listens.
 */
export async function start(
  args: string[],
  data: string,
  databaseUrl = '',
): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, ['src/main.ts', ...args, '--port', String(await freePort())], {
    cwd: root,
    env: { ...process.env, PLINTH_DATA_DIR: data, PLINTH_LOG: 'info', DATABASE_URL: databaseUrl },
  });
  let text = '';
  const url = new Promise<string>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      text += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
      if (found) resolve(found[0]);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.on('exit', (code) => reject(new Error(`ended with ${code}: ${text}`)));
  });
  return { url: await url, child };
}

/** Ends a server and waits until it has ended. */
export async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Runs blocks one after the other in one shell and answers what each printed. */
export async function shell(scripts: string[], replacements: Record<string, string>): Promise<string[]> {
  const script = scripts.join("\necho '=== next ==='\n");
  const adapted = Object.entries(replacements).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    script,
  );
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', adapted], { cwd: root });
  return stdout.split('=== next ===\n');
}

/** Returns a port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** A shell in which a reader follows the README on a server. */
export async function sessionOf(url: string, data: string, replacements: Record<string, string> = {}) {
  const token = (await readFile(join(data, 'root-token'), 'utf8')).trim();
  const env = { ...process.env, PLINTH_URL: url, PLINTH_ROOT_TOKEN: token };
  return {
    env,
    /** Runs a block, and the blocks that follow it in the same shell. */
    run: (language: string, then = ''): Promise<string> =>
      shell([`export PLINTH_ROOT_TOKEN=${token}\n${textOf(language)}\n${then}`], {
        'http://127.0.0.1:4000': url,
        ...replacements,
      }).then(([printed = '']) => printed),
  };
}

/** Starts a program of examples/. */
export function example(file: string, env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [`examples/${file}`], { cwd: root, env });
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

/** Finds a browser, or says that there is none, because reporters do not say why a test is skipped. */
export function findBrowser(file: string): string | undefined {
  const chromium = findChromium();
  if (!chromium) console.warn(`${file} shows no page: no Chromium on PATH, nor at PLINTH_CHROMIUM`);
  return chromium;
}
