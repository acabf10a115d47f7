import type { Log } from './log.ts';
import type { Sql } from './sql.ts';

/**
 * Short messages between processes. They are only hints: any of them can get lost, so listeners must also poll.
 */
export interface Notices {
  /** Sends when the transaction of `sql` commits, or at once outside of a transaction. `payload` has at most 7,999 bytes. */
  send(sql: Sql, channel: string, payload: string): Promise<void>;
  /**
   * Calls `onNotice` for each message, including those of this process. `onGap` is called whenever listening begins, initially and
   * after every interruption: earlier messages may be missing, so read the tables then. Returns a function that stops listening.
   */
  listen(channel: string, onNotice: (payload: string) => void, onGap?: () => void): () => void;
}

/** Listens on the server. PGlite has no listener, because only this process can send. */
export type Listener = (events: {
  onNotice: (channel: string, payload: string) => void;
  onListening: (channel: string) => void;
}) => { add(channel: string): void; remove(channel: string): void; close(): Promise<void> };

interface Subscriber {
  onNotice: (payload: string) => void;
  onGap: () => void;
}

/** Creates the notices: LISTEN/NOTIFY on PostgreSQL, calls within the process after the commit on PGlite. */
export function createNotices({
  listener,
  after,
  log,
}: {
  listener: Listener | undefined;
  after: (sql: Sql, fn: () => void) => void;
  log: Log;
}) {
  const subscribers = new Map<string, Set<Subscriber>>();
  /** Channels for which the server has confirmed LISTEN; for other channels, a new subscriber's `onGap` waits for the confirmation. */
  const listened = new Set<string>();

  const each = (channel: string, call: (subscriber: Subscriber) => void) => {
    for (const subscriber of subscribers.get(channel) ?? []) {
      try {
        call(subscriber);
      } catch (error) {
        log.error({ err: error, channel }, 'a listener of notices failed');
      }
    }
  };
  const onNotice = (channel: string, payload: string) =>
    each(channel, (subscriber) => subscriber.onNotice(payload));
  const onListening = (channel: string) => {
    listened.add(channel);
    each(channel, (subscriber) => subscriber.onGap());
  };
  const remote = listener?.({ onNotice, onListening });
  /** Tells all subscribers that they may have missed messages. */
  const gap = () => {
    for (const channel of subscribers.keys()) each(channel, (subscriber) => subscriber.onGap());
  };

  return {
    gap,

    async send(sql: Sql, channel: string, payload: string): Promise<void> {
      if (remote === undefined) after(sql, () => onNotice(channel, payload));
      else await sql`select pg_notify(${channel}, ${payload})`;
    },

    listen(channel: string, onNotice: (payload: string) => void, onGap: () => void = () => {}): () => void {
      const subscriber = { onNotice, onGap };
      const others = subscribers.get(channel);
      if (others === undefined) {
        subscribers.set(channel, new Set([subscriber]));
        remote?.add(channel);
      } else others.add(subscriber);
      if (listened.has(channel) || remote === undefined) queueMicrotask(() => onGap());
      return () => {
        const left = subscribers.get(channel);
        if (!left?.delete(subscriber) || left.size > 0) return;
        subscribers.delete(channel);
        listened.delete(channel);
        remote?.remove(channel);
      };
    },

    async close(): Promise<void> {
      subscribers.clear();
      await remote?.close();
    },
  };
}
