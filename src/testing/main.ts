import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { childEnvironment } from './child-server.ts';

/** Runs a command of the project until it ends. `text` is everything that it printed. */
export const runMain = (words: readonly string[], env: Readonly<Record<string, string>>) =>
  runProgram(process.execPath, [new URL('../main.ts', import.meta.url).pathname, ...words], env);

/** Runs a program until it ends. `text` is everything that it printed. */
export function runProgram(
  program: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; text: string }> {
  const child = spawn(program, words, { env: { ...childEnvironment(), PLINTH_LOG: 'silent', ...env } });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, text })));
}

/** Starts a server, tells it to end as soon as it has begun to start, and returns its exit code. */
export async function endedWhileStarting(
  words: string[],
  env: { PLINTH_DATA_DIR: string },
): Promise<number | null> {
  const main = new URL('../main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, ...words], { env: { ...childEnvironment(), ...env } });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  // The first visible step is the file of the root token, which is written before the database is opened.
  const begun = () =>
    stat(join(env.PLINTH_DATA_DIR, 'root-token')).then(
      () => true,
      () => false,
    );
  await expect.poll(begun, { timeout: 60_000 }).toBe(true);
  child.kill('SIGTERM');
  return ended;
}
