/** Recording events: against the same rows without chain and encryption, and against a transaction for each. */
import { onServer } from '../jobs/place.ts';
import { atLeast, atMostTimes, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { median, medianTimes, paired, quantile, timed } from '../statistics.ts';
import { createPlainTable, draft, insertPlain, openLog } from './service.ts';

const ofBatch = 500;

/** Batches of 500 events, into one stream and into fifty. */
export function append(): AsyncIterable<Row> {
  const target = '≥ 0.5 ×';
  return onServer('recorded events, batches of 500', target, async function* ({ db }) {
    await createPlainTable(db);
    const log = openLog(db);
    let first = 1;
    for (const streams of [1, 50]) {
      const tenants = Array.from({ length: streams }, (_, at) => `tenant-${streams}-${at}`);
      const batch = () => Array.from({ length: ofBatch }, (_, at) => draft(tenants[at % streams]!));
      const rate = async (store: () => Promise<unknown>) => {
        const batches = sized(20, 2);
        const ms = await timed(async () => {
          for (let turn = 0; turn < batches; turn++) await store();
        });
        return (batches * ofBatch * 1_000) / ms;
      };
      const { ratio, a, b } = await paired(
        () => rate(() => log.append(batch())),
        () => rate(() => insertPlain(db, batch(), (first += ofBatch))),
      );
      yield atLeast(ratio, 0.5, {
        path: `recorded events, batches of 500, ${streams === 1 ? 'one stream' : `${streams} streams`}`,
        baseline: 'the same rows in one insert, same indexes',
        measured: `${round(a)}/s against ${round(b)}/s: tamper evidence costs ${Math.round(100 * (1 / ratio - 1))} %`,
      });
    }
    await log.intake.close();
  });
}

/** Whether a long stream makes recording slower. */
export function long(): AsyncIterable<Row> {
  const many = sized(200_000, 5_000);
  const path = `a recorded batch of 500 in a stream of ${round(many)}`;
  return onServer(path, '≤ 1.3 ×', async function* ({ db }) {
    const log = openLog(db);
    const batch = (tenant: string) => Array.from({ length: ofBatch }, () => draft(tenant));
    for (let stored = 0; stored < many; stored += ofBatch) await log.append(batch('long'));
    const [a, b] = await medianTimes(
      sized(30, 3),
      () => log.append(batch('long')),
      (turn) => log.append(batch(`short-${turn}`)),
    );
    yield atMostTimes(a / b, 1.3, {
      path,
      baseline: 'in a new stream',
      measured: `${round(a)} ms against ${round(b)} ms`,
    });
    await log.intake.close();
  });
}

/** Single events of 64 callers at once, which share commits. */
export function single(): AsyncIterable<Row> {
  const path = 'recorded single events, 64 callers, one stream';
  return onServer(path, '≥ 4 ×', async function* ({ db }) {
    const [together, alone] = [openLog(db), openLog(db, 1)];
    const delays: number[] = [];
    const rate = async (log: typeof together, events: number) => {
      let left = events;
      const caller = async () => {
        while (left-- > 0) {
          const took = await timed(() => log.append([draft('acme')]));
          if (log === together) delays.push(took);
        }
      };
      const ms = await timed(() => Promise.all(Array.from({ length: 64 }, caller)));
      return (events * 1_000) / ms;
    };
    const { ratio, a, b } = await paired(
      () => rate(together, sized(4_000, 200)),
      () => rate(alone, sized(800, 64)),
      3,
    );
    yield atLeast(ratio, 4, {
      path,
      baseline: 'a transaction for each event',
      measured: `${round(a)}/s against ${round(b)}/s`,
    });
    const commit = await medianCommit(alone);
    const p99 = quantile(delays, 0.99);
    yield atMostTimes(p99 / commit, 4, {
      path: 'recorded single events, p99 of 64 callers',
      baseline: 'a transaction with 64 events',
      measured: `${round(p99)} ms against ${round(commit)} ms`,
    });
    await Promise.all([together.intake.close(), alone.intake.close()]);
  });
}

/** The milliseconds of one transaction that records what 64 callers send at once. */
async function medianCommit({ append }: ReturnType<typeof openLog>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < 50; turn++)
    times.push(await timed(() => append(Array.from({ length: 64 }, () => draft('acme')))));
  return median(times);
}
