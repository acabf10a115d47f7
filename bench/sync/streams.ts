/** Streams in this process, each with a socket to another one: what they cost besides the writes, and how long a change is on its way. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import type { Database } from '../../src/db/index.ts';
import { readSettings } from '../../src/lib/settings.ts';
import { encode } from '../../src/http/events.ts';
import { createHooks } from '../../src/services/sync/hooks/hooks.ts';
import { readPage } from '../../src/services/sync/pull/pages.ts';
import { pageStore } from '../../src/services/sync/pull/pages.store.ts';
import { settings } from '../../src/services/sync/settings.ts';
import { stream } from '../../src/services/sync/stream/stream.ts';
import { batch } from '../../src/services/sync/stream/tail.ts';
import { createTails, type Tails } from '../../src/services/sync/stream/tails.ts';
import { onServer } from '../jobs/place.ts';
import { start, withServers } from '../process.ts';
import { atLeast, atMost, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { quantile, timed } from '../statistics.ts';
import { createPushing, dataset, writes } from './service.ts';

const hooks = createHooks([], pino({ level: 'silent' }));
const context = { tenantId: 'acme', appId: 'default', subject: 'root', nodeId: null, via: 'stream' } as const;
const reading = { tables: undefined, without: undefined, context };
/** Streams that begin at the same time; each of them reads from the database first. */
const ofGroup = 100;

export function streams(): AsyncIterable<Row> {
  const readers = sized(2_000, 100);
  const path = `${round(readers)} streams get each change`;
  return onServer(path, '≥ 0.7 ×', ({ db }) =>
    withServers([start('sink')], async function* ({ port }) {
      const given = readSettings(settings, {});
      const tails = createTails({ db, settings: given, log: pino({ level: 'silent' }) });
      tails.start();
      const sockets = await openSockets(port, readers);
      try {
        yield* measured(path, db, tails, sockets);
      } finally {
        await tails.stop();
        for (const socket of sockets) socket.destroy();
      }
    }),
  );
}

async function openSockets(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let n = 0; n < count; n++) {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    sockets.push(socket);
  }
  return sockets;
}

async function* measured(
  path: string,
  db: Database,
  tails: Tails,
  sockets: readonly Socket[],
): AsyncGenerator<Row> {
  const pushing = createPushing(db);
  await pushing(writes(1, 1_000));
  const readers = await openReaders(db, tails, sockets, async () => {
    await pushing(writes(1, 1_000));
    tails.wake(dataset);
  });
  const delays: number[] = [];
  let [ours, bare] = [0, 0];
  for (let turn = 0; turn < sized(100, 10); turn++) {
    const pushedAt = performance.now();
    const all = readers.allWritten(() => delays.push(performance.now() - pushedAt));
    await pushing(writes(1, 1_000));
    ours += await timed(() => {
      tails.wake(dataset);
      return all;
    });
    bare += await timed(() => writeAll(sockets, readers.lastText()));
  }
  await readers.close();
  yield atLeast(bare / ours, 0.7, {
    path,
    baseline: 'the same bytes written to the same sockets',
    measured: `${round(ours)} ms against ${round(bare)} ms`,
  });
  yield atMost(quantile(delays, 0.99), 50, {
    path: 'a change from its push to the socket, p99',
    unit: 'ms',
  });
}

/** Opens a stream for each socket, group by group, and returns when all of them follow what is pushed. */
async function openReaders(
  db: Database,
  tails: Tails,
  sockets: readonly Socket[],
  pushOne: () => Promise<void>,
) {
  const given = readSettings(settings, {});
  const [now] = await pageStore(db.sql).clocks([dataset]);
  const from = { stamp: now!.clock, epoch: now!.epoch };
  const first = await readPage({ db, hooks }, dataset, reading, from, batch);
  const subscriptions: Awaited<ReturnType<Tails['subscribe']>>[] = [];
  const reads: Promise<void>[] = [];
  let [text, seen, finished, left] = ['', () => {}, () => {}, 0];
  const onWritten = () => {
    seen();
    if (--left === 0) finished();
  };
  const allWritten = (each: () => void = () => {}) => {
    [seen, left] = [each, reads.length];
    return new Promise<void>((resolve) => (finished = resolve));
  };
  const read = async (socket: Socket) => {
    const subscription = await tails.subscribe(dataset);
    subscriptions.push(subscription);
    const opening = { dataset, reading, topics: undefined, first, rev: 0 };
    for await (const event of stream({ db, hooks, settings: given }, opening, subscription)) {
      if (!('event' in event)) continue;
      text = encode(event);
      socket.write(text, onWritten);
    }
  };
  for (let begun = 0; begun < sockets.length; begun += ofGroup) {
    for (const socket of sockets.slice(begun, begun + ofGroup)) reads.push(read(socket));
    const all = allWritten();
    await pushOne();
    await all;
  }
  return {
    allWritten,
    lastText: () => text,
    async close() {
      for (const subscription of subscriptions) subscription.close();
      await Promise.all(reads);
    },
  };
}

const writeAll = (sockets: readonly Socket[], text: string) =>
  Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.write(text, () => resolve()))));
