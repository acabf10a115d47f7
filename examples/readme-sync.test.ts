/** Runs the README's first replica as it is printed. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root, textOf } from './testing/readme.ts';
import { run, start, stop } from './testing/running.ts';

it('the README shows a first replica, which agrees with another one', async () => {
  const program = join(root, 'examples/first-replica.ts');
  expect(textOf('ts first-replica')).toBe(await readFile(program, 'utf8'));
  const data = await mkdtemp(join(tmpdir(), 'plinth-readme-'));
  const { url, child } = await start(['serve', 'sync', 'authz'], data);
  try {
    const token = (await readFile(join(data, 'root-token'), 'utf8')).trim();
    const env = { ...process.env, PLINTH_URL: url, PLINTH_ROOT_TOKEN: token };
    const { stdout } = await run(process.execPath, [program], { cwd: root, env });
    expect(stdout).toBe(textOf('text first-replica'));
  } finally {
    await stop(child);
    await rm(data, { recursive: true });
  }
});
