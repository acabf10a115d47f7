import { startSweeps, type Sweeping } from '../../engine/testing/sweeping.ts';
import { relaySweeps, type RelayOptions } from '../relay.ts';

export interface Relay {
  start(): void;
  stop(): Promise<void>;
}

/** A relay that runs as in a server, but for its services. */
export function createRelay(options: RelayOptions): Relay {
  let running: Sweeping | undefined;
  return {
    start() {
      running = startSweeps(options.db, relaySweeps(options));
    },
    async stop() {
      await running?.stop();
    },
  };
}
