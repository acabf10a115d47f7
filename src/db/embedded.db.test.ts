import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import { embeddedWire } from './embedded-wire.ts';
import { openDatabase } from './index.ts';
import { type Connect, createLanes } from './lanes.ts';
import { createPool } from './sql.ts';

const log = pino({ level: 'silent' });
const writer = fileURLToPath(new URL('./fixtures/writer.ts', import.meta.url));

describe.runIf(inject('engine') === 'pglite')('the embedded database', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'plinth-embedded-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  /** A process that writes; resolves with it and the list of acknowledged rows, which grows. */
  async function startWriter(first: number): Promise<{ child: ChildProcess; acknowledged: number[] }> {
    const child = spawn(process.execPath, [writer, dataDir, String(first)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const acknowledged: number[] = [];
    let rest = '';
    child.stdout?.on('data', (data: Buffer) => {
      const lines = (rest + data.toString()).split('\n');
      rest = lines.pop() ?? '';
      acknowledged.push(...lines.map(Number));
    });
    await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(0);
    return { child, acknowledged };
  }

  test('what was acknowledged is there after kill -9 under load, again and again, and nothing is half there', async () => {
    const all: number[] = [];
    for (const rows of [50, 400, 900]) {
      const { child, acknowledged } = await startWriter(all.length === 0 ? 1 : Math.max(...all) + 100);
      await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(rows);
      const exited = once(child, 'close');
      child.kill('SIGKILL');
      await exited;
      all.push(...acknowledged);
      const db = await openDatabase({ dataDir, log });
      const found = new Set((await db.sql<{ id: number }[]>`select id from written`).map(({ id }) => id));
      expect(all.filter((id) => !found.has(id))).toEqual([]);
      expect([...found].filter((id) => id < 0)).toEqual([]);
      await db.close();
    }
  }, 180_000);

  test('a data directory that is in use is refused with a sentence that names the process', async () => {
    const { child } = await startWriter(1);
    await expect(openDatabase({ dataDir, log })).rejects.toThrow(
      `the data directory ${dataDir} is in use by process ${child.pid} on `,
    );
    const exited = once(child, 'close');
    child.kill('SIGKILL');
    await exited;
    await (await openDatabase({ dataDir, log })).close();
  });

  test('a transaction that waits for something else than its own statements is ended, and the others go on', async () => {
    const pg = await PGlite.create();
    const wire = embeddedWire(pg, { log, maxIdleMs: 100 });
    const options = (max: number, socket: Connect<unknown>) => ({
      max,
      socket,
      user: 'postgres',
      database: 'postgres',
      max_lifetime: null,
    });
    const pool = createPool(options(2, wire.connect));
    const lanes = createLanes((connect) => createPool(options(1, connect)), wire.connect, {
      max: 2,
      closeMs: 20_000,
    });
    await pool`create table rows (id int)`;
    const stuck = lanes.transaction(async (sql) => {
      await sql`insert into rows (id) values (1)`;
      await pool`select 1`;
      await sql`insert into rows (id) values (2)`;
    });
    await expect(stuck).rejects.toThrow();
    expect(await pool`select id from rows`).toEqual([]);
    expect(await lanes.transaction((sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
    await lanes.close();
    await pool.end();
    await pg.close();
  });
});
