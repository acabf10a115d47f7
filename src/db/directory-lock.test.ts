import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { DirectoryInUse, lockDirectory } from './directory-lock.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plinth-lock-'));
});
afterEach(() => rm(directory, { recursive: true }));

const leave = (holder: object) =>
  writeFile(join(directory, 'lock'), JSON.stringify({ nonce: 'x', ...holder }));

test('of several at once one gets the directory, and the next when it lets go', async () => {
  const all = await Promise.allSettled(Array.from({ length: 10 }, () => lockDirectory(directory)));
  const taken = all.filter((each) => each.status === 'fulfilled');
  expect(taken).toHaveLength(1);
  for (const each of all) if (each.status === 'rejected') expect(each.reason).toBeInstanceOf(DirectoryInUse);
  await taken[0]?.value.release();
  await (await lockDirectory(directory)).release();
  expect(await readdir(directory)).toEqual([]);
});

test('of several that find the lock of a dead process one gets the directory', async () => {
  await leave({ pid: 2 ** 22 + 1, host: hostname(), started: null });
  const all = await Promise.allSettled(Array.from({ length: 10 }, () => lockDirectory(directory)));
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await readdir(directory)).toEqual(['lock']);
});

test('of several one gets the directory also where a process died while it took it over', async () => {
  const dead = { pid: 2 ** 22 + 1, host: hostname(), started: null };
  await leave(dead);
  await writeFile(join(directory, 'lock.x'), JSON.stringify({ ...dead, nonce: 'y' }));
  const all = await Promise.allSettled(Array.from({ length: 10 }, () => lockDirectory(directory)));
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await readdir(directory)).toEqual(['lock']);
});

test('the lock of an earlier process with the same number does not count', async () => {
  await leave({ pid: process.pid, host: hostname(), started: '1' });
  await (await lockDirectory(directory)).release();
});

test('the lock of a process that was killed and that its parent has not noticed does not count', async () => {
  // The shell replaces itself by a program that never reaps the child that the shell had started.
  const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  const stat = async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
  await expect.poll(() => readFile(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n');
  await leave({ pid, host: hostname(), started: (await stat())[19] });
  await expect(lockDirectory(directory)).rejects.toThrow(DirectoryInUse);
  process.kill(pid, 'SIGKILL');
  await expect.poll(async () => (await stat())[0]).toBe('Z');
  await (await lockDirectory(directory)).release();
});

test('the lock of another host counts while it is touched, and not when it is left alone', async () => {
  const theirs = { pid: 1, host: 'another', started: null };
  await leave(theirs);
  const beat = setInterval(() => void leave(theirs), 200);
  await expect(lockDirectory(directory)).rejects.toThrow(
    `the data directory ${directory} is in use by process 1 on another: stop it, or choose another directory with PLINTH_DATA_DIR`,
  );
  clearInterval(beat);
  await (await lockDirectory(directory)).release();
}, 20_000);
