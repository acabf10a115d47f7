/** Streams in this process: what they cost besides the writes to their sockets, and how long a change is on its way. */
import { pino } from 'pino';
import { readSettings } from '../../src/lib/settings.ts';
import { encode } from '../../src/http/events.ts';
import { createHooks } from '../../src/services/sync/hooks/hooks.ts';
import { readPage } from '../../src/services/sync/pull/pages.ts';
import { pageStore } from '../../src/services/sync/pull/pages.store.ts';
import { settings } from '../../src/services/sync/settings.ts';
import { stream } from '../../src/services/sync/stream/stream.ts';
import { batch } from '../../src/services/sync/stream/tail.ts';
import { createTails } from '../../src/services/sync/stream/tails.ts';
import { onServer } from '../jobs/place.ts';
import { atLeast, atMost, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { quantile } from '../statistics.ts';
import { createPushing, dataset, writes } from './service.ts';

const hooks = createHooks([], pino({ level: 'silent' }));
const context = { tenantId: 'acme', appId: 'default', subject: 'root', nodeId: null, via: 'stream' } as const;
const reading = { tables: undefined, without: undefined, context };

export function streams(): AsyncIterable<Row> {
  const readers = sized(2_000, 100);
  const path = `${round(readers)} streams get each change`;
  return onServer(path, '≥ 0.7 ×', async function* ({ db }) {
    const given = readSettings(settings, {});
    const log = pino({ level: 'silent' });
    const tails = createTails({ db, settings: given, log });
    tails.start();
    const pushing = createPushing(db);
    await pushing(writes(1, 1_000));
    const [now] = await pageStore(db.sql).clocks([dataset]);
    const from = { stamp: now!.clock, epoch: now!.epoch };
    const first = await readPage({ db, hooks }, dataset, reading, from, batch);
    const delays: number[] = [];
    let [pushedAt, received, waiting] = [0, 0, () => {}];
    const open = Array.from({ length: readers }, async () => {
      const subscription = await tails.subscribe(dataset);
      const events = stream(
        { db, hooks, settings: given },
        { dataset, reading, topics: undefined, first, rev: 0 },
        subscription,
      );
      return { subscription, events };
    });
    const opened = await Promise.all(open);
    let bytes = 0;
    const reads = opened.map(async ({ events }) => {
      for await (const event of events) {
        bytes = encode(event).length;
        if (!('event' in event)) continue;
        delays.push(performance.now() - pushedAt);
        if (++received === readers) waiting();
      }
    });
    let [ours, bare] = [0, 0];
    for (let turn = 0; turn < sized(100, 10); turn++) {
      received = 0;
      pushedAt = performance.now();
      const all = new Promise<void>((resolve) => (waiting = resolve));
      await pushing(writes(1, 1_000));
      const began = performance.now();
      tails.wake(dataset);
      await all;
      ours += performance.now() - began;
      const alone = performance.now();
      await bareWrites(readers, bytes);
      bare += performance.now() - alone;
    }
    for (const { subscription } of opened) subscription.close();
    await Promise.all(reads);
    await tails.stop();
    yield atLeast(bare / ours, 0.7, {
      path,
      baseline: 'each gets the same bytes from a promise',
      measured: `${round(ours)} ms against ${round(bare)} ms`,
    });
    yield atMost(quantile(delays, 0.99), 50, {
      path: 'a change from its push to the event, p99',
      unit: 'ms',
    });
  });
}

/** Every reader waits for a promise and encodes an event of so many bytes. */
async function bareWrites(readers: number, bytes: number): Promise<void> {
  const data = 'x'.repeat(bytes);
  let go = () => {};
  const told = new Promise<void>((resolve) => (go = resolve));
  const all = Array.from({ length: readers }, () => told.then(() => encode({ event: 'changes', data })));
  go();
  await Promise.all(all);
}
