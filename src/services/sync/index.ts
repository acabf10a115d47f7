/**
 * Sync: keeps the same records on many devices and servers that are often offline. Every node writes locally, pushes what changed and
 * pulls what others changed, and all of them end in the same state, whatever the order, repetition or delay.
 *
 * Terminology:
 * - Data set: all tables of one tenant and app. Node: one replica, with an id that nobody else uses.
 * - Change: one field's write, increment or set operation, or a record's deletion. Reading: of a hybrid logical clock.
 * - Cell: what merging works on, and what is stored: `sdk/src/sync` says how, for the server and for replicas.
 * - Arrival: when a cell last changed here, as a stamp that grows with every commit. Delivery goes by arrival, merging by readings.
 * - Watermark: an arrival stamp that was given to a node. Epoch: the life of a data set in which a watermark is worth something.
 * - Horizon: how far deletions have been forgotten; a node behind it must begin again.
 * - Tail: follows a data set on behalf of its streams in this process.
 */
import type { Service, ServiceModule } from '../../http/service.ts';
import { encodeError } from './errors.ts';
import { forgettingStore } from './forgetting/forgetting.store.ts';
import { forgettingSweep } from './forgetting/sweeps.ts';
import { loadHooks } from './hooks/hooks.ts';
import { info } from './info.ts';
import { nodes } from './nodes.ts';
import { presence } from './presence/presence.ts';
import { presenceSweep } from './presence/sweeps.ts';
import { pullHandler } from './pull/pull.ts';
import { pushHandler } from './push/push.ts';
import { createPushLine } from './push/push-line.ts';
import { records } from './records/records.ts';
import { createResyncs } from './resyncs.ts';
import { settings } from './settings.ts';
import { streamHandler } from './stream/open.ts';
import { createTails } from './stream/tails.ts';
import { tables } from './tables.ts';
import { createWriter } from './writes.ts';

export const sync: ServiceModule<typeof settings> = {
  name: 'sync',
  migrations: new URL('./migrations/', import.meta.url),
  settings,
  commands: {
    async 'new-epoch'(db) {
      const count = await forgettingStore(db.sql).newEpochs();
      return `All replicas of ${count} data sets begin again.`;
    },
  },
  async create({ db, settings, log }): Promise<Service> {
    const tails = createTails({ db, settings, log });
    const write = createWriter({ db });
    const hooks = await loadHooks(settings.hooks, log);
    const wake = tails.wake;
    const deps = { db, write, settings, log, hooks, wake, resyncs: createResyncs({ write }) };
    const line = createPushLine(deps);
    return {
      handlers: {
        Changes: {
          pull: pullHandler(deps),
          push: pushHandler({ ...deps, line }),
          stream: streamHandler({ ...deps, tails }),
        },
        Info: info(deps),
        Nodes: nodes(deps),
        Presence: presence(deps),
        Records: records(deps),
        Tables: tables(deps),
      },
      encodeError,
      sweeps: [forgettingSweep(deps), ...(settings.presence === 'on' ? [presenceSweep(deps)] : [])],
      outbox: {},
      limits: { Changes_push: { bodyBytes: settings.maxPushBytes } },
      queues: () => [line.figures()],
      start: () => tails.start(),
      async stop() {
        await line.close();
        await tails.stop();
      },
    };
  },
};
