import { randomUUID } from 'node:crypto';
import type { Database } from '../index.ts';
import type { Log } from '../log.ts';

/** Tells the workers of all processes which queues have new jobs. A hint may get lost: then polling finds the jobs. */
export interface Hints {
  /** Wakes the workers of this process at once and those of the others within milliseconds. Call it after the commit. */
  readonly give: (queues: ReadonlySet<string>) => void;
  /** Calls `onHint` with queues; without them when hints may have been missed. Returns a function that stops it. */
  listen(onHint: (queues: Iterable<string> | undefined) => void): () => void;
  /** Sends what is collected. */
  stop(): Promise<void>;
}

const channel = 'jobs';
/** Milliseconds for which hints to other processes are collected. */
const collectMs = 10;
/** The most bytes of a notice, with room for the sender. */
const longestNotice = 7_900;

export function createHints({ db, log }: { readonly db: Database; readonly log: Log }): Hints {
  const self = randomUUID();
  const listeners = new Set<(queues: Iterable<string> | undefined) => void>();
  const waiting = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  async function send(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const text = [...waiting].join(' ');
    waiting.clear();
    // Without names the notice means every queue.
    const payload = text.length > longestNotice ? self : `${self} ${text}`;
    await db.notices
      .send(db.background, channel, payload)
      .catch((error: unknown) => log.debug({ err: error }, 'other processes could not be told of jobs'));
  }

  return {
    give(queues) {
      if (queues.size === 0) return;
      for (const listener of listeners) listener(queues);
      // An embedded database has no other processes.
      if (db.engine === 'pglite') return;
      for (const queue of queues) waiting.add(queue);
      timer ??= setTimeout(() => void send(), collectMs);
    },
    listen(onHint) {
      listeners.add(onHint);
      const onNotice = (payload: string) => {
        const [sender, ...queues] = payload.split(' ');
        if (sender !== self) onHint(queues.length > 0 ? queues : undefined);
      };
      const unlisten = db.notices.listen(channel, onNotice, () => onHint(undefined));
      return () => {
        listeners.delete(onHint);
        unlisten();
      };
    },
    async stop() {
      if (timer !== undefined) await send();
    },
  };
}
