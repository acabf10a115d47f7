/** Runs the README's first invoice as it is printed. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root, textOf } from './testing/readme.ts';
import { run, start, stop } from './testing/running.ts';

/** What differs from run to run. */
const withoutTimes = (text: string) => text.replaceAll(/acme-\d+/g, 'acme-…');

it('the README shows a first invoice: from the plan to the payment, and as a file', async () => {
  const program = join(root, 'examples/first-invoice.ts');
  expect(textOf('ts first-invoice')).toBe(await readFile(program, 'utf8'));
  const data = await mkdtemp(join(tmpdir(), 'plinth-readme-'));
  const { url, child } = await start(['serve', 'billing', 'authz'], data);
  try {
    const token = (await readFile(join(data, 'root-token'), 'utf8')).trim();
    const { stdout } = await run(process.execPath, [program], {
      cwd: data,
      env: { ...process.env, PLINTH_URL: url, PLINTH_ROOT_TOKEN: token },
    });
    expect(withoutTimes(stdout)).toBe(withoutTimes(textOf('text first-invoice')));
    const file = await readFile(join(data, 'invoice.pdf'));
    expect(file.subarray(0, 5).toString()).toBe('%PDF-');
    expect(file.subarray(-6).toString()).toBe('%%EOF\n');
  } finally {
    await stop(child);
    await rm(data, { recursive: true });
  }
});
