import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import { migratedFolder } from '../testing/database.ts';
import { openEmbedded } from './embedded.ts';
import { toDomainError } from './errors.ts';
import { openDatabase } from './index.ts';
import { createNotices } from './notices.ts';

const log = pino({ level: 'silent' });
const writer = fileURLToPath(new URL('./fixtures/writer.ts', import.meta.url));

describe.runIf(inject('engine') === 'pglite')('the embedded database', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await migratedFolder([]);
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  /** Starts a process that writes; resolves with the process and the growing list of acknowledged rows. */
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
    const { pool, lanes, close } = await openEmbedded({ dataDir, log, maxIdleMs: 100 });
    await pool`create table rows (id int)`;
    const stuck = lanes.transaction(async (sql) => {
      await sql`insert into rows (id) values (1)`;
      await pool`select 1`;
      await sql`insert into rows (id) values (2)`;
    });
    await expect(stuck).rejects.toThrow();
    expect(await pool`select id from rows`).toEqual([]);
    expect(await lanes.transaction((sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
    await close();
  }, 120_000);

  test('a database that hangs is started again, and the process goes on meanwhile', async () => {
    const { pool, lanes, close } = await openEmbedded({ dataDir, log, patienceMs: 1_000 });
    await pool`create table rows (id int)`;
    await pool`insert into rows values (1)`;
    const endless = () => pool`select count(*) from generate_series(1, 1e15)`.catch(toDomainError);
    const inside = lanes.transaction(async (sql) => {
      await sql`insert into rows values (2)`;
      await sql`select count(*) from generate_series(1, 1e15)`;
    });
    let turns = 0;
    const turning = setInterval(() => turns++, 5);
    const [failure] = await Promise.all([endless(), expect(inside).rejects.toThrow()]);
    clearInterval(turning);
    expect(failure).toMatchObject({ kind: 'storeUnavailable', message: 'store unavailable' });
    expect(turns).toBeGreaterThan(20);
    const rows = () => pool`select id from rows`.catch(() => undefined);
    await expect.poll(rows, { timeout: 60_000 }).toEqual([{ id: 1 }]);
    await lanes.transaction((sql) => sql`insert into rows values (3)`);
    await close();
  }, 120_000);

  test('a database that ended is a gap to those who listen, because a commit may have gone unheard', async () => {
    const backend = await openEmbedded({ dataDir, log, patienceMs: 500 });
    const notices = createNotices({ listener: undefined, after: () => {}, log });
    backend.onLoss?.(notices.gap);
    let gaps = 0;
    notices.listen(
      'things',
      () => {},
      () => gaps++,
    );
    await expect.poll(() => gaps).toBe(1);
    await backend.pool`select count(*) from generate_series(1, 1e15)`.catch(() => {});
    expect(gaps).toBe(2);
    await backend.close();
  }, 120_000);

  test('a database that hangs does not keep the process from ending', async () => {
    const { pool, close } = await openEmbedded({ dataDir, log, patienceMs: 1_000 });
    const endless = pool`select count(*) from generate_series(1, 1e15)`.catch(toDomainError);
    await close();
    expect(await endless).toMatchObject({ kind: 'unavailable' });
    await (await openDatabase({ dataDir, log })).close();
  }, 120_000);

  test('a database that ran out of descriptors works again when there are some', async () => {
    const fixture = fileURLToPath(new URL('./fixtures/descriptors.ts', import.meta.url));
    const child = spawn('sh', ['-c', 'ulimit -n 300; exec "$0" "$@"', process.execPath, fixture, dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let text = '';
    child.stdout.on('data', (data: Buffer) => (text += data.toString()));
    await once(child, 'close');
    const [first, ...rest] = text.trim().split('\n');
    expect(first).toContain('could not');
    expect(rest).toEqual(['stored', '1']);
  }, 120_000);

  test('with little free space writes are refused and reads go on, until there is space again', async () => {
    let free = 1e9;
    const { pool, lanes, close } = await openEmbedded({ dataDir, log, minFree: 5e7, free: async () => free });
    await pool`create table rows (id int, text text)`;
    const insert = () => pool`insert into rows values (1, 'C25006')`.then(() => 'stored', toDomainError);
    const inTransaction = () =>
      lanes.transaction((sql) => sql`update rows set id = 2`).then(() => 'stored', toDomainError);
    const refused = expect.objectContaining({
      kind: 'storeFull',
      message: 'nothing can be stored: the disk of the database is full, and space has to be freed',
      retryAfter: 5,
    });
    expect(await insert()).toBe('stored');
    free = 4e7;
    await expect.poll(insert).toEqual(refused);
    expect(await inTransaction()).toEqual(refused);
    const rows = await pool`select text, 1 as one from rows limit 1`;
    expect(rows).toEqual([{ text: 'C25006', one: 1 }]);
    free = 1e9;
    await expect.poll(insert).toBe('stored');
    expect(await inTransaction()).toBe('stored');
    await close();
  }, 120_000);

  test('a disk that is too full to start is a sentence', async () => {
    const free = async () => 12e6;
    const empty = join(dataDir, 'empty');
    await expect(openEmbedded({ dataDir: empty, log, free })).rejects.toThrow(
      `the disk of ${empty} has 11 MB free, and the database needs 96 MB to start: free some space, or choose another directory with PLINTH_DATA_DIR`,
    );
    await (await openDatabase({ dataDir, log })).close();
    await expect(openEmbedded({ dataDir, log, free })).rejects.toThrow('the database needs 32 MB to start');
  }, 120_000);
});
