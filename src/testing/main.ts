import { spawn } from 'node:child_process';

/** Runs a command of the project until it ends. `text` is everything that it printed. */
export function runMain(
  words: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; text: string }> {
  const main = new URL('../main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, ...words], {
    env: { PATH: process.env['PATH'], PLINTH_LOG: 'silent', ...env },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, text })));
}
