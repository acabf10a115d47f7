import { createEngine, type EngineSettings, type HandleOptions } from '../../../src/db/engine/index.ts';
import type { Database } from '../../../src/db/index.ts';
import { log } from '../../place.ts';
import { type Payload, type Peer, slots } from './peer.ts';

const queue = 'bench';
const name = 'nothing';

/** The engine. Each start creates a new one, because an engine cannot be started twice. */
export function own(db: Database, { settle = 'batched', settings = {} }: Own = {}): Peer {
  const producer = createEngine({ db, log });
  return {
    name: 'the engine',
    add: (payload) => producer.enqueue({ name, queue, payload }),
    addAll: (payloads) => producer.enqueue(payloads.map((payload) => ({ name, queue, payload }))),
    async start(handler) {
      const engine = createEngine({ db, log, settings });
      engine.handle<Payload>(queue, name, ({ payload }) => handler(payload), { concurrency: slots, settle });
      await engine.start();
      return () => engine.stop(5_000);
    },
    close: () => producer.stop(),
  };
}

interface Own extends Pick<HandleOptions, 'settle'> {
  readonly settings?: Partial<EngineSettings>;
}
