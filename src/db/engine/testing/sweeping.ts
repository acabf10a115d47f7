import { pino } from 'pino';
import type { Database } from '../../index.ts';
import type { Log } from '../../log.ts';
import type { Sweep } from '../../sweeps.ts';
import { createEngine } from '../index.ts';

export interface Sweeping {
  stop(): Promise<void>;
}

/** Runs sweeps as a server does, until they are stopped. */
export function startSweeps(
  db: Database,
  sweeps: readonly Sweep[],
  log: Log = pino({ level: 'silent' }),
): Sweeping {
  const engine = createEngine({ db, log });
  for (const sweep of sweeps) engine.sweep(sweep);
  const started = engine.start();
  return {
    async stop() {
      await started;
      await engine.stop(0);
    },
  };
}
