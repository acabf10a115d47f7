/** Whether verifying a chain takes more memory when the chain is longer. */
import { verifyChain } from '../../src/services/audit/verification/verifier.ts';
import { fillStream } from '../../src/services/audit/testing.store.ts';
import { heapDuring } from '../../src/testing/heap.ts';
import { analyze, onServer } from '../jobs/place.ts';
import { atMost, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { app, openLog } from './service.ts';

const mebibyte = 1_024 * 1_024;

export function memory(): AsyncIterable<Row> {
  const [few, many] = [sized(10_000, 1_000), sized(1_000_000, 5_000)];
  const path = `memory in use while ${round(many)} events are verified`;
  return onServer(path, '≤ 24 MiB', async function* ({ db }) {
    const log = openLog(db);
    const used = async (tenant: string, count: number) => {
      const stream = await log.known.of(tenant, app);
      await fillStream(db, stream, { count, bytes: 100 });
      await analyze(db);
      const bytes = await heapDuring(async () => {
        const { report } = await verifyChain({ db, sealer: log.sealer }, stream, { from: 0, to: 0 });
        if (!report.valid || report.verified !== count) throw new Error('the chain is not intact');
      });
      return bytes / mebibyte;
    };
    const short = await used('short', few);
    yield atMost(await used('long', many), 24, {
      path,
      unit: 'MiB',
      baseline: `${round(few)} events`,
      measured: `against ${round(short)} MiB`,
    });
    await log.intake.close();
  });
}
