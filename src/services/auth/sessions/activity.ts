import { monotonic } from '../../../db/clock.ts';
import type { Database, Log } from '../../../db/index.ts';
import { principalStore } from '../directory/principals.store.ts';

/** Records when sessions and devices are used, without a statement for each use. */
export interface Activity {
  /** Records that the session was used now. */
  note(session: { readonly tenant: string; readonly id: string }): void;
  /** Writes the uses recorded since the last write, in one statement. */
  flush(): Promise<void>;
  start(): void;
  /** Writes the remaining uses. */
  stop(): Promise<void>;
}

/** Milliseconds between writes, and thus the precision of `last_active_at`. */
const every = 30_000;

export function createActivity({ db, log }: { db: Database; log: Log }): Activity {
  let used = new Map<string, { tenant: string; at: number }>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    if (used.size === 0) return;
    const taken = used;
    used = new Map();
    const now = monotonic();
    await principalStore(db.background).noteUse(
      [...taken].map(([session, { tenant, at }]) => ({ tenant, session, agoMs: Math.max(0, now - at) })),
    );
  }

  /** A failure to record use is only worth a line in the log. */
  const flushOrWarn = () =>
    flush().catch((error: unknown) => log.warn({ err: error }, 'the use of sessions could not be noted'));

  return {
    note({ tenant, id }) {
      const at = monotonic();
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
