import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFolder } from './folders.ts';

let root: string;
beforeAll(async () => (root = await mkdtemp(join(tmpdir(), 'plinth-folders-'))));
afterAll(() => rm(root, { recursive: true }));

test('makes a folder with those above it, for the owner alone, also when many do at once', async () => {
  const path = join(root, 'a', 'b', 'c');
  await Promise.all(Array.from({ length: 20 }, () => makeFolder(path)));
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  await makeFolder(path);
});

test('says what is in the way', async () => {
  await writeFile(join(root, 'file'), '');
  await expect(makeFolder(join(root, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(join(root, 'file', 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

test.runIf(process.platform === 'linux')('ends where the file system can make nothing', async () => {
  await expect(makeFolder('/proc/plinth/data')).rejects.toMatchObject({
    code: 'ENOENT',
    path: '/proc/plinth',
  });
});
