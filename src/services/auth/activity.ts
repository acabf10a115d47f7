import type { Database, Log } from '../../db/index.ts';
import { principalStore } from './principals.store.ts';

/** Notes when sessions and devices are used, without a statement for each use. */
export interface Activity {
  /** The session was used at this time of this process's clock. */
  note(session: { readonly tenant: string; readonly id: string }, at: number): void;
  /** Writes what was noted since the last time, in one statement. */
  flush(): Promise<void>;
  start(): void;
  /** Writes what is left. */
  stop(): Promise<void>;
}

/** Milliseconds between writes: as exact as `last_active_at` is. */
const every = 30_000;

export function createActivity({ db, log }: { db: Database; log: Log }): Activity {
  let used = new Map<string, { tenant: string; at: number }>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    if (used.size === 0) return;
    const taken = used;
    used = new Map();
    const now = Date.now();
    await principalStore(db.background).noteUse(
      [...taken].map(([session, { tenant, at }]) => ({ tenant, session, agoMs: Math.max(0, now - at) })),
    );
  }

  /** That a session was used is not worth more than a line in the log. */
  const flushOrWarn = () =>
    flush().catch((error: unknown) => log.warn({ err: error }, 'the use of sessions could not be noted'));

  return {
    note({ tenant, id }, at) {
      const known = used.get(id);
      if (known) known.at = at;
      else used.set(id, { tenant, at });
    },
    flush,
    start: () => void (timer = setInterval(() => void flushOrWarn(), every).unref()),
    async stop() {
      clearInterval(timer);
      await flushOrWarn();
    },
  };
}
