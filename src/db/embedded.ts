import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { lockDirectory } from './directory-lock.ts';
import { embeddedWire } from './embedded-wire.ts';
import { type Connect, createLanes } from './lanes.ts';
import type { Log } from './log.ts';
import type { Backend } from './server.ts';
import { createPool } from './sql.ts';

/** A transaction that does nothing for this long while it holds the database is rolled back. */
const maxIdleMs = 30_000;

/**
 * PGlite on `<dataDir>/database`. Every commit is in the files of the operating system before it is acknowledged, so what was
 * acknowledged survives `kill -9`. Only one process can have a data directory open.
 */
export async function openEmbedded({ dataDir, log }: { dataDir: string; log: Log }): Promise<Backend> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const lock = await lockDirectory(dataDir);
  try {
    const pg = await PGlite.create({
      dataDir: join(dataDir, 'database'),
      extensions: { vector },
      relaxedDurability: false,
      postgresqlconf: ['timezone = UTC'],
    });
    const wire = embeddedWire(pg, { log, maxIdleMs });
    const pool = createPool(options(4, wire.connect));
    const lanes = createLanes((connect) => createPool(options(1, connect)), wire.connect, {
      max: 4,
      closeMs: 20_000,
    });
    const close = async () => {
      await lanes.close();
      await pool.end();
      await pg.close();
      await lock.release();
    };
    return { pool, lanes, background: pool, listener: undefined, maintenance: lanes.transaction, close };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function options(max: number, socket: Connect<unknown>) {
  return { max, socket, host: 'embedded', user: 'postgres', database: 'postgres', max_lifetime: null };
}
