/** What a backup holds is what a restored server has, on both shapes. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { emptyDatabase } from '../testing/database.ts';
import { runMain } from '../testing/main.ts';
import { childServer } from '../testing/server.ts';

// Each test starts whole processes, one after the other.
vi.setConfig({ testTimeout: 180_000 });

const services = ['keys', 'storage'];
/** More than is kept in the database, so that it is a file. */
const bytes = 'x'.repeat(100_000);

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-backup-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** An empty place on the engine of this run. */
async function emptyPlace(): Promise<Record<string, string>> {
  const data = { PLINTH_DATA_DIR: join(await temporaryFolder(), 'data') };
  if (inject('engine') === 'pglite') return data;
  const db = await emptyDatabase();
  onTestFinished(() => db.remove());
  return { ...data, DATABASE_URL: db.url };
}

test('a restored server has the rows, the bytes, the tokens and the keys', async () => {
  const [from, to] = [await emptyPlace(), await emptyPlace()];
  const file = join(await temporaryFolder(), 'plinth.tar');
  const before = await childServer({ services, env: { ...from, PLINTH_ROOT_TOKEN: '' } });
  const { text: token } = await runMain(['token'], from);
  const root = { token: token.trim() };
  await before.request('POST', '/storage/store/v1/buckets', { ...root, body: { name: 'photos' } });
  const put = await fetch(`${before.url}/storage/store/v1/buckets/photos/objects/one`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${root.token}` },
    body: bytes,
  });
  expect(put.status).toBe(201);
  if (inject('engine') === 'pglite') {
    expect((await runMain(['backup', file], from)).text).toMatch(/is in use by process \d+/);
    await before.kill();
    expect((await runMain(['backup', file], from)).code).toBe(0);
  } else {
    // PostgreSQL is saved while the server runs.
    expect((await runMain(['backup', file], from)).code).toBe(0);
    await before.kill();
  }
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await runMain(['restore', file], to)).toEqual({ code: 0, text: expect.stringMatching(/^Restored/) });

  const after = await childServer({ services, env: { ...to, PLINTH_ROOT_TOKEN: '' } });
  expect((await runMain(['token'], to)).text).toBe(token);
  const got = await fetch(`${after.url}/storage/store/v1/buckets/photos/objects/one`, {
    headers: { authorization: `Bearer ${root.token}` },
  });
  expect([got.status, await got.text()]).toEqual([200, bytes]);
  await after.kill();
  expect(await readFile(join(to['PLINTH_DATA_DIR']!, 'master-key'), 'utf8')).toBe(
    await readFile(join(from['PLINTH_DATA_DIR']!, 'master-key'), 'utf8'),
  );

  expect(await runMain(['backup', `${file}/no/folder.tar`], from)).toEqual({
    code: 1,
    text: `${file}/no/folder.tar cannot be written (ENOTDIR).\n`,
  });
  expect(await runMain(['restore', `${file}.none`], to)).toEqual({
    code: 1,
    text: `${file}.none cannot be read (ENOENT).\n`,
  });
  expect(await runMain(['restore', file], to)).toEqual({
    code: 1,
    text: expect.stringMatching(/is not empty\. Choose another data directory with --data\.\n$/),
  });
  expect(await runMain(['backup', file], from)).toEqual({
    code: 1,
    text: `${file} exists already. Choose another name, or remove it.\n`,
  });
});

test('a data directory that is not there is named, and not made', async () => {
  const [missing, folder] = [await emptyPlace(), await temporaryFolder()];
  expect(await runMain(['backup', join(folder, 'plinth.tar')], missing)).toEqual({
    code: 1,
    text: expect.stringContaining(`There is no folder ${missing['PLINTH_DATA_DIR']}. Name`),
  });
  await expect(stat(missing['PLINTH_DATA_DIR']!)).rejects.toThrow('ENOENT');
});

test('the doctor says what the database lacks, and creates nothing', async () => {
  const place = await emptyPlace();
  const empty = await runMain(['doctor'], place);
  expect(empty.code).toBe(0);
  expect(empty.text).toMatch(
    inject('engine') === 'pglite'
      ? /is created in \S+ at the first start\./
      : /\d+ migrations are to be applied\. The next start applies them, or plinth migrate does\./,
  );
  await runMain(['migrate'], place);
  const wrong = { ...place, PLINTH_MASTER_KEY: Buffer.alloc(32, 1).toString('base64') };
  const server = await childServer({ services, env: place });
  await server.kill();
  expect(await runMain(['doctor'], wrong)).toEqual({
    code: 1,
    text: expect.stringMatching(/problem {2}the database was sealed with another master key: .*\n/),
  });
  await rm(join(place['PLINTH_DATA_DIR']!, 'master-key'));
  const missing = await runMain(['doctor'], place);
  expect(missing.text).toMatch(/problem {2}the master key is neither in PLINTH_MASTER_KEY nor in /);
  await expect(stat(join(place['PLINTH_DATA_DIR']!, 'master-key'))).rejects.toThrow('ENOENT');
});
