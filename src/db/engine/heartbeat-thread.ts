/** The thread that renews the lease of its process; `heartbeat.ts` starts it. */
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { serverOptions, standard } from '../server-connection.ts';
import { createPool, type Pool } from '../sql.ts';
import { beats, cell, type HeartbeatData, longestSilenceMs } from './heartbeat.ts';
import { leaseStore } from './leases.store.ts';

const { url, ttlMs, cells, ...first } = workerData as HeartbeatData;
const port = parentPort!;
let { leaseId } = first;
let pool: Pool | undefined;

port.on('message', (next: string) => (leaseId = next));

for (;;) {
  const began = process.hrtime.bigint();
  const silentMs = Number(began - Atomics.load(cells, cell.alive)) / 1e6;
  if (silentMs < longestSilenceMs) await renew(began);
  await delay(ttlMs / beats);
}

async function renew(began: bigint): Promise<void> {
  const own = leaseId;
  // A pool of this driver may stay unusable after a lost connection, so each connection has its own.
  const sql = (pool ??= createPool({ ...serverOptions(1, standard), max_lifetime: null }, url));
  try {
    const expires = await withinTtl(leaseStore(sql).renew(own, ttlMs));
    if (own !== leaseId) return;
    if (expires === undefined) port.postMessage(own);
    else Atomics.store(cells, cell.renewed, began);
  } catch {
    pool = undefined;
    void sql.end({ timeout: 0 }).catch(() => {});
  }
}

/** A connection that is lost silently never answers. */
async function withinTtl<T>(statement: Promise<T>): Promise<T> {
  const answered = new AbortController();
  const late = delay(ttlMs, undefined, { signal: answered.signal }).then(() => {
    throw new Error('no answer from the database');
  });
  return await Promise.race([statement, late]).finally(() => answered.abort());
}
