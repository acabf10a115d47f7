import type { Database } from './index.ts';

export interface Tail {
  readonly db: Pick<Database, 'engine' | 'notices'>;
  /** The channel on which writers announce changes. */
  readonly channel: string;
  /** Milliseconds between two polls. */
  readonly pollMs: number;
  /** Called for every notice, with its text. */
  readonly onNotice: (payload: string) => void;
  /** Reads what has changed. It is also called when notices may have been missed, even while an earlier call is still reading. */
  readonly poll: () => void;
  /** Drops everything that was read, because it may be out of date. Called only on PGlite. */
  readonly forget: () => void;
}

/**
 * Follows the changes that other processes make: a notice tells of a change at once, and polling finds what no notice told. Returns
 * a function that stops it.
 *
 * On PGlite this process is the only writer and applies its own changes, so nothing is read. But a commit whose answer was lost when
 * the database ended may have changed data, so everything is dropped after a gap. The first gap is the beginning.
 */
export function follow({ db, channel, pollMs, onNotice, poll, forget }: Tail): () => void {
  if (db.engine === 'pglite') {
    let begun = false;
    const onGap = () => {
      if (begun) forget();
      begun = true;
    };
    return db.notices.listen(channel, () => {}, onGap);
  }
  const unlisten = db.notices.listen(channel, onNotice, poll);
  const timer = setInterval(poll, pollMs).unref();
  return () => {
    clearInterval(timer);
    unlisten();
  };
}
