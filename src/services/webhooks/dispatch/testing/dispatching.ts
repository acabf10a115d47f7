import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { readSettings } from '../../../../lib/settings.ts';
import { testDatabase, type TestDatabase } from '../../../../testing/database.ts';
import { testSealer } from '../../../../testing/server.ts';
import { createSealing } from '../../sealing.ts';
import { settings } from '../../settings.ts';
import { createDispatcher, type Dispatcher, type DispatcherDeps } from '../dispatcher.ts';
import { startReceiver, type Receiver } from './receiver.ts';
import { records } from './records.store.ts';

export const testSealing = createSealing(testSealer);

interface Started {
  /** Settings, by the names of their environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  readonly deps?: Partial<DispatcherDeps>;
}

/** A database, a receiver and a dispatcher for the tests of a file. What a test leaves behind is gone before the next one. */
export function dispatching() {
  let db: TestDatabase;
  let receiver: Receiver;
  let started: Dispatcher[] = [];
  beforeAll(async () => {
    db = await testDatabase({ services: ['webhooks'] });
  });
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(async () => {
    // What hangs would hold up the end of the dispatcher.
    await receiver.close();
    await Promise.all(started.map((one) => one.stop()));
    started = [];
    await make().clear();
  });
  afterAll(() => db.close());
  const make = () => records(db.sql, testSealing);

  return {
    get db() {
      return db;
    },
    get receiver() {
      return receiver;
    },
    get make() {
      return make();
    },
    async start({ env = {}, deps = {} }: Started = {}): Promise<Dispatcher> {
      const dispatcher = createDispatcher({
        db,
        sealing: testSealing,
        log: pino({ level: 'silent' }),
        settings: readSettings(settings, env),
        allowPrivateTargets: true,
        pollMs: 100,
        ...deps,
      });
      await dispatcher.start();
      started.push(dispatcher);
      return dispatcher;
    },
    /** Waits until this many deliveries are in each state. */
    settled: (expected: Readonly<Record<string, number>>, timeout = 10_000) =>
      expect.poll(() => make().states(), { timeout }).toEqual(expected),
  };
}
