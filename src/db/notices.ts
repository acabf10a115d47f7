import type { Log } from './log.ts';
import type { Sql } from './sql.ts';

/**
 * Short messages between processes. They are hints: any of them can get lost, so whoever listens also polls.
 */
export interface Notices {
  /** Sends with the commit of the transaction that `sql` is, or at once outside of one. `payload` ≤ 7,999 bytes. */
  send(sql: Sql, channel: string, payload: string): Promise<void>;
  /**
   * Calls `onNotice` for each message, those of this process included. `onGap` is called whenever listening begins, at first and
   * after every interruption: messages before that moment may be missing, so look at the tables then. Returns what stops it.
   */
  listen(channel: string, onNotice: (payload: string) => void, onGap?: () => void): () => void;
}

/** Listens on the server; undefined on PGlite, where the only process that can send is this one. */
export type Listener = (events: {
  onNotice: (channel: string, payload: string) => void;
  onListening: (channel: string) => void;
}) => { add(channel: string): void; remove(channel: string): void; close(): Promise<void> };

interface Subscriber {
  onNotice: (payload: string) => void;
  onGap: () => void;
}

/** The one notification port: LISTEN/NOTIFY on PostgreSQL, calls in the process after the commit on PGlite. */
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
  /** Channels on which the server has confirmed that it is listened: who joins another one has to wait for that. */
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

  return {
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
