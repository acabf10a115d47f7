import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from './index.ts';
import type { Log } from './log.ts';

/**
 * Tells all processes where there is new work, such as the queues that have new jobs. A hint may get lost; the work is then found
 * at the next poll.
 */
export interface Hints {
  /** Tells this process at once and the others within milliseconds. Call it after the commit. Names have no spaces. */
  readonly give: (names: ReadonlySet<string>) => void;
  /** Calls `onHint` with the names, or without any when hints may have been missed. Returns a function that ends the calls. */
  listen(onHint: (names: Iterable<string> | undefined) => void): () => void;
  /** Sends the collected hints. */
  stop(): Promise<void>;
}

/** Milliseconds between two notices to other processes. Hints in between are collected. */
const gapMs = 2;
/** The most bytes of a notice, with room for the sender. */
const longestNotice = 7_900;

interface HintsDeps {
  readonly db: Database;
  readonly log: Log;
  /** The channel of the notices to other processes. */
  readonly channel: string;
}

export function createHints({ db, log, channel }: HintsDeps): Hints {
  const self = randomUUID();
  const listeners = new Set<(names: Iterable<string> | undefined) => void>();
  const waiting = new Set<string>();
  let sending: Promise<void> | undefined;

  /** Sends the waiting hints, one notice at a time, until none is left. */
  async function sendAll(): Promise<void> {
    // All hints of one turn of the event loop are sent together.
    await Promise.resolve();
    while (waiting.size > 0) {
      await send();
      await delay(gapMs);
    }
    sending = undefined;
  }

  async function send(): Promise<void> {
    const text = [...waiting].join(' ');
    waiting.clear();
    // A notice without names concerns every name.
    const payload = text.length > longestNotice ? self : `${self} ${text}`;
    await db.notices
      .send(db.background, channel, payload)
      .catch((error: unknown) => log.debug({ err: error }, 'other processes could not be told of new work'));
  }

  return {
    give(names) {
      if (names.size === 0) return;
      for (const listener of listeners) listener(names);
      // An embedded database has no other processes.
      if (db.engine === 'pglite') return;
      for (const name of names) waiting.add(name);
      sending ??= sendAll();
    },
    listen(onHint) {
      listeners.add(onHint);
      const onNotice = (payload: string) => {
        const [sender, ...names] = payload.split(' ');
        if (sender !== self) onHint(names.length > 0 ? names : undefined);
      };
      const unlisten = db.notices.listen(channel, onNotice, () => onHint(undefined));
      return () => {
        listeners.delete(onHint);
        unlisten();
      };
    },
    async stop() {
      await sending;
    },
  };
}
