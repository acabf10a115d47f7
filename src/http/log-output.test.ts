/** The log of a process whose output cannot be written. Each test is a process, because what matters is whether it goes on and ends. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runProgram } from '../testing/main.ts';

vi.setConfig({ testTimeout: 30_000 });

const log = new URL('./log.ts', import.meta.url).href;

/** Runs a program with a log, whose output goes where `redirection` says. Returns how it ended and what it said on standard error. */
function logging(program: string, redirection: string) {
  const whole = `import { createLog } from '${log}'; const log = createLog({ level: 'info', readable: false }); ${program}`;
  const shell = `{ "$0" --input-type=module -e "$1"; echo "ended with $?" >&2; } ${redirection}`;
  return runProgram('sh', ['-c', shell, process.execPath, whole]);
}

const many = "for (let at = 0; at < 100; at += 1) log.info({ at, text: 'x'.repeat(1_000) }, 'line');";
const later =
  "setTimeout(() => { log.info('later'); process.stderr.write('goes on\\n'); process.exit(); }, 400);";

test.each([
  ['a full disk', '> /dev/full'],
  ['a reader that is gone', '| true'],
])('%s ends nobody', async (_what, redirection) => {
  const { text } = await logging(many + later, redirection);
  expect(text).toBe('goes on\nended with 0\n');
});

test.each([
  ['a full disk', '> /dev/full'],
  ['a reader that is gone', '| true'],
])('%s keeps nobody from ending', async (_what, redirection) => {
  const { text } = await logging(`${many} process.exit(3);`, redirection);
  expect(text).toBe('ended with 3\n');
});

test('all lines are written, in order, also those of the last moment', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-log-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'log');
  await logging(`${many} setTimeout(() => { log.info('last'); process.exit(); }, 400);`, `> ${file}`);
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  const told = lines.map((line) => JSON.parse(line) as { at?: number; msg: string });
  expect(told.map(({ at }) => at)).toEqual([...Array(100).keys(), undefined]);
  expect(told.at(-1)?.msg).toBe('last');
});

test('a reader that is slow for a while gets every line that there is room for', async () => {
  const slow = '| (sleep 1; wc -l >&2)';
  const { text } = await logging(`${many} setTimeout(() => process.exit(), 100);`, slow);
  expect(text).toMatch(/100\b/);
});
