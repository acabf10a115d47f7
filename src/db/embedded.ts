import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../lib/folders.ts';
import { databaseFiles, descriptorLimit } from './descriptors.ts';
import { lockDirectory } from './directory-lock.ts';
import { checkSpace, type FreeSpace, freeSpace, leastToStart, watchDisk } from './disk-space.ts';
import { type Engine, startEngine } from './engine.ts';
import type { Connect } from './lane.ts';
import { createLanes } from './lanes.ts';
import type { Log } from './log.ts';
import { createProbe } from './probe.ts';
import type { Backend } from './server.ts';
import { createPool } from './sql.ts';
import { createStatements } from './statements.ts';

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly log: Log;
  /** Bytes of free disk space below which writes are refused. */
  readonly minFree?: number | undefined;
  readonly free?: FreeSpace | undefined;
  /** Milliseconds after which an idle transaction that holds the database is rolled back. */
  readonly maxIdleMs?: number;
  /** Milliseconds after which a statement is assumed never to end, and the database is restarted. */
  readonly patienceMs?: number;
}

/** The shorter `patienceMs` while the disk is nearly full: a full disk makes the database spin forever. */
const patienceOfFullDiskMs = 3_000;
/** The most statements, and the most transactions, in flight or waiting. */
const maxWaiting = 2_000;

/**
 * Opens PGlite on `<dataDir>/database`. The operating system has every commit in its files before the commit is acknowledged, so
 * acknowledged commits survive `kill -9`. Only one process can open a data directory.
 *
 * On a full disk PGlite would hang forever. So it is made read-only before the disk is full, and it is restarted if it hangs
 * nevertheless.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Backend> {
  const { dataDir } = options;
  await makeFolder(dataDir);
  const lock = await lockDirectory(dataDir);
  try {
    const losses: (() => void)[] = [];
    const { engine, stop } = await startGuarded(options, () => losses.forEach((lost) => lost()));
    const create = (connect: Connect<unknown>) => createPool({ ...settings, socket: connect });
    const bounds = { max: 4, maxWaiting, closeMs: 10_000 };
    const statements = createStatements(create, engine.connect, bounds);
    const probe = createProbe(createStatements(create, engine.connect, { ...bounds, max: 1 }));
    const lanes = createLanes(create, engine.connect, bounds);
    return {
      pool: statements.sql,
      lanes,
      background: statements.sql,
      listener: undefined,
      probe,
      figures: () => [
        { pool: 'statements', ...statements.figures() },
        { pool: 'transactions', ...lanes.figures() },
      ],
      onLoss: (fn) => void losses.push(fn),
      maintenance: (fn) => engine.patiently(() => lanes.transaction(fn)),
      async close() {
        engine.settle();
        await Promise.all([lanes.close(), statements.close(), probe.close()]);
        stop();
        await engine.close();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Starts the engine together with a watch on its disk. */
async function startGuarded(
  {
    dataDir,
    log,
    minFree = 64 * 2 ** 20,
    free = freeSpace,
    maxIdleMs = 30_000,
    patienceMs = 15_000,
  }: EmbeddedOptions,
  onLoss: () => void,
): Promise<{ engine: Engine; stop: () => void }> {
  const files = join(dataDir, 'database');
  const isNew = await access(files).then(
    () => false,
    () => true,
  );
  await checkSpace(dataDir, isNew, free);
  let engine: Engine | undefined;
  const disk = watchDisk({
    folder: dataDir,
    edge: minFree,
    onChange: (low) => engine?.refuseWrites(low),
    log,
    free,
  });
  try {
    engine = await startEngine({
      dataDir,
      log,
      maxIdleMs,
      onLoss,
      maxFiles: databaseFiles(descriptorLimit()),
      patienceMs: () => (disk.isLow() ? Math.min(patienceMs, patienceOfFullDiskMs) : patienceMs),
      canStart: async () => (await free(dataDir)) >= leastToStart,
    });
    if (disk.isLow()) engine.refuseWrites(true);
    return { engine, stop: disk.stop };
  } catch (error) {
    disk.stop();
    // A disk that became full meanwhile explains the failure better than the database's own error.
    await checkSpace(dataDir, false, free);
    throw error;
  }
}

const settings = {
  max: 1,
  host: 'embedded',
  user: 'postgres',
  database: 'postgres',
  max_lifetime: null,
  backoff: 0,
};
