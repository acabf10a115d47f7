import {
  appendFile,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fileStorage } from '../../src/sync/replica/file.ts';
import { FakeServer } from './fake-server.ts';
import { eventually, open, shown, shownBy } from './replicas.ts';

async function pathOf(name = 'replica.journal'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-replica-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, name);
}

describe('a replica in a file', () => {
  it('has every edit that was acknowledged before a crash, and pushes it afterwards', async () => {
    const [server, path] = [new FakeServer(), await pathOf()];
    const one = await open(server, { storage: fileStorage(path) });
    const expected: Record<string, unknown> = {};
    for (let at = 0; at < 20; at += 1) {
      await one.table('notes').set(`n${at}`, { at });
      expected[`notes\nn${at}`] = { at };
      // What a program that is killed now leaves behind, cut off in the middle of the next line.
      await copyFile(path, `${path}.${at}`);
      await appendFile(`${path}.${at}`, '{"put":[{"table":"notes"');
      const again = await open(server, { storage: fileStorage(`${path}.${at}`) });
      expect(await shown(again)).toEqual(expected);
      expect(again.nodeId).toBe(one.nodeId);
      await again.stop();
    }
    const last = await open(server, { storage: fileStorage(`${path}.19`) });
    await last.table('notes').set('later', { at: 20 });
    await last.flush();
    expect(shownBy(server)).toEqual({ ...expected, 'notes\nlater': { at: 20 } });
    await last.stop();
    const clean = await open(server, { storage: fileStorage(`${path}.19`) });
    await eventually(() => clean.status.pending).toBe(0);
    expect(await shown(clean)).toEqual(shownBy(server));
  });

  it('is opened by one program at a time, and by the next after a crash', async () => {
    const [server, path] = [new FakeServer(), await pathOf()];
    const one = await open(server, { storage: fileStorage(path) });
    await expect(open(server, { storage: fileStorage(path) })).rejects.toThrow(
      `the process ${process.pid} uses`,
    );
    await one.stop();
    await writeFile(`${path}.lock`, '4194304');
    await (await open(server, { storage: fileStorage(path) })).stop();
    await writeFile(`${path}.lock`, String(process.pid));
    expect((await open(server, { storage: fileStorage(path) })).nodeId).toBe(one.nodeId);
  });

  it('is opened by one of many programs that find what a crash left behind', async () => {
    for (const left of ['4194304', '', `4194304 ${Date.now()} x`]) {
      const path = await pathOf();
      await writeFile(`${path}.lock`, left);
      const opened = await Promise.allSettled(Array.from({ length: 12 }, () => fileStorage(path).open()));
      const stores = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      expect(stores).toHaveLength(1);
      await stores[0]!.close();
      expect(await readdir(dirname(path))).toEqual([basename(path)]);
    }
  });

  it('keeps its long journal while it cannot be written anew', async () => {
    const [server, path] = [new FakeServer(), await pathOf()];
    const one = await open(server, { storage: fileStorage(path) });
    await mkdir(`${path}.next`);
    const many = (round: number) =>
      Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`f${at}`, round]));
    for (let round = 0; round < 13; round += 1) await one.table('notes').set('n', many(round));
    await one.stop();
    const again = await open(server, { storage: fileStorage(path) });
    expect(await again.table('notes').get('n')).toEqual(many(12));
  });

  it('refuses a file that is not its own', async () => {
    const path = await pathOf();
    await writeFile(path, 'a text\nof somebody\n');
    await expect(open(new FakeServer(), { storage: fileStorage(path) })).rejects.toThrow('not the journal');
    expect(await readFile(path, 'utf8')).toBe('a text\nof somebody\n');
  });

  it('stays as long as what it holds, however often that is edited', async () => {
    const [server, path] = [new FakeServer(), await pathOf()];
    const one = await open(server, { storage: fileStorage(path) });
    const many = (round: number) =>
      Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`f${at}`, round]));
    for (let round = 0; round < 25; round += 1) await one.table('notes').set('n', many(round));
    const lines = 25_000;
    const perLine = 150;
    expect((await stat(path)).size).toBeLessThan((lines / 2) * perLine);
    await one.table('notes').set('n', { f0: 'last' });
    await one.stop();
    const again = await open(server, { storage: fileStorage(path) });
    expect(await again.table('notes').get('n')).toEqual({ ...many(24), f0: 'last' });
  });

  it('takes back what cannot be written', async () => {
    const path = await pathOf();
    const storage = fileStorage(path);
    const store = await storage.open();
    const cell = { table: 'notes', pk: 'n', field: 'f', kind: 'l', sub: '', hlc: 'x', value: '1' } as const;
    const stored = { ...cell, inc: 0, dec: 0, removed: '', dirty: true, acked: false };
    await store.write((transaction) => transaction.put([stored]));
    const failing = store.write(async (transaction) => {
      await transaction.put([
        { ...stored, value: '2' },
        { ...stored, field: 'g' },
      ]);
      await transaction.delete([stored]);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    const read = () =>
      store.read(async (transaction) => [
        await transaction.record('notes', 'n'),
        await transaction.pending(),
      ]);
    expect(await read()).toEqual([[stored], 1]);
    await store.close();
  });
});
