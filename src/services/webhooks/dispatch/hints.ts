import { randomUUID } from 'node:crypto';
import type { Database, Log } from '../../../db/index.ts';

/** Tells the dispatchers of all processes which endpoints have new deliveries. A hint may get lost: then the next look finds them. */
export interface Hints {
  give(endpointIds: readonly string[]): void;
  /** Calls `onHint` with endpoints; without them when hints may have been missed. Returns a function that stops it. */
  listen(onHint: (endpointIds: readonly string[] | undefined) => void): () => void;
  /** Sends what is collected. */
  stop(): Promise<void>;
}

const channel = 'webhooks';
/** Milliseconds for which hints to other processes are collected. */
const collectMs = 10;
/** The most bytes of a notice, with room for the sender. */
const longestNotice = 7_900;

export function createHints({ db, log }: { readonly db: Database; readonly log: Log }): Hints {
  const self = randomUUID();
  const listeners = new Set<(endpointIds: readonly string[] | undefined) => void>();
  const waiting = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  async function send(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const text = [...waiting].join(' ');
    waiting.clear();
    // Without ids the notice means every endpoint.
    const payload = text.length > longestNotice ? self : `${self} ${text}`;
    await db.notices
      .send(db.background, channel, payload)
      .catch((error: unknown) =>
        log.debug({ err: error }, 'other processes could not be told of deliveries'),
      );
  }

  return {
    give(endpointIds) {
      if (endpointIds.length === 0) return;
      for (const listener of listeners) listener(endpointIds);
      // An embedded database has no other processes.
      if (db.engine === 'pglite') return;
      for (const id of endpointIds) waiting.add(id);
      timer ??= setTimeout(() => void send(), collectMs);
    },
    listen(onHint) {
      listeners.add(onHint);
      const onNotice = (payload: string) => {
        const [sender, ...ids] = payload.split(' ');
        if (sender !== self) onHint(ids.length > 0 ? ids : undefined);
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
