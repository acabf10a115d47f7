/**
 * Tests the embedded database on a disk that becomes full: a small memory file system, which only root may mount. Nothing that was
 * acknowledged is lost, reads keep working, and writes recover by themselves.
 */
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { type ChildServer, childServer } from './testing/child-server.ts';
import { migratedFolder } from './testing/database.ts';

const patience = { timeout: 60_000 };
const full = 'nothing can be stored: the disk of the database is full, and space has to be freed';

describe.runIf(inject('engine') === 'pglite')('a disk that gets full', () => {
  test('writes are refused with a sentence, reads go on, and it comes back by itself', async ({
    skip,
    onTestFinished,
  }) => {
    const disk = await mkdtemp(join(tmpdir(), 'plinth-disk-'));
    onTestFinished(() => rm(disk, { recursive: true }));
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'plinth-test', disk]);
    if (status !== 0) skip('only root may mount the small disk that this test fills');
    onTestFinished(() => void spawnSync('umount', ['-l', disk]));

    const data = join(disk, 'data');
    await cp(await migratedFolder(['authz']), data, { recursive: true });
    const env = { PLINTH_DATA_DIR: data, PLINTH_CONTRACT: 'fast', PLINTH_LOG: 'error' };
    const start = () => childServer({ services: ['authz'], env });
    let server: ChildServer = await start();
    onTestFinished(() => void server.kill('SIGKILL'));
    const made: string[] = [];
    const write = async () => {
      const { status, body } = await server.request('POST', '/v1/roles', {
        body: { name: `Role ${made.length}` },
      });
      if (status === 201) made.push(body.id);
      return [status, body.error?.message];
    };
    const read = async () => (await server.request('GET', `/v1/roles/${made[0]}`)).status;
    const others = join(disk, 'others');
    /** Fills the disk except for this many bytes. */
    const leave = async (bytes: number) => {
      const { bavail, bsize } = await statfs(disk);
      await writeFile(others, Buffer.alloc(Math.max(0, bavail * bsize - bytes)));
    };
    expect(await write()).toEqual([201, undefined]);

    await leave(50 * 2 ** 20);
    await expect.poll(write, patience).toEqual([503, full]);
    await writeFile(join(disk, 'more'), Buffer.alloc(100 * 2 ** 20)).catch(() => {});
    expect((await statfs(disk)).bavail).toBe(0);
    expect(await write()).toEqual([503, full]);
    expect(await read()).toBe(200);
    expect((await server.request('GET', '/readyz')).status).toBe(200);
    await rm(join(disk, 'more'));
    await rm(others);
    await expect.poll(write, patience).toEqual([201, undefined]);

    // The disk fills faster than it is checked: whether writes hang or fail, the process continues.
    const writing = Promise.all(Array.from({ length: 20 }, write));
    await writeFile(others, Buffer.alloc(200 * 2 ** 20)).catch(() => {});
    await writing;
    expect((await server.request('GET', '/healthz')).status).toBe(200);
    await rm(others);
    await expect.poll(write, patience).toEqual([201, undefined]);
    for (const id of made) expect((await server.request('GET', `/v1/roles/${id}`)).status).toBe(200);

    await writeFile(others, Buffer.alloc(200 * 2 ** 20)).catch(() => {});
    expect(await server.kill()).toBe(0);
    await expect(start()).rejects.toThrow(/the disk of \S+ has 0 MB free, and the database needs 32 MB/i);
    await rm(others);
    server = await start();
    for (const id of made) expect((await server.request('GET', `/v1/roles/${id}`)).status).toBe(200);
    expect(await server.kill()).toBe(0);

    const beside = { ...env, PLINTH_DATA_DIR: join(disk, 'new') };
    await writeFile(others, Buffer.alloc(200 * 2 ** 20)).catch(() => {});
    await expect(childServer({ services: ['authz'], env: beside })).rejects.toThrow(
      /ended before it was ready: \S+ cannot be used \(ENOSPC\)\. Choose another data directory with [^\n]+\n$/,
    );
    await rm(others);
    server = await childServer({ services: ['authz'], env: beside });
    expect(await server.kill()).toBe(0);
  }, 300_000);
});
