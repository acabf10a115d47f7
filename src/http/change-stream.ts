import type { Changes, LoggedChange } from '../db/changes.ts';
import { Gone } from '../lib/errors.ts';

/** What the stream sends: changes and heartbeats. */
export type SentChange<Data> = { event: 'change'; id: string; data: Data } | { comment: string };

/** Milliseconds between two heartbeats. */
const beat = 500;

/** Changes that may wait for a slow reader. Beyond that the stream ends, and the reader resumes with its `Last-Event-ID`. */
const most = 10_000;

/**
 * Streams changes as they happen, converted by `tell` (undefined leaves a change out), starting after `last`. A change may arrive
 * twice. Heartbeats stop when this process does not hear from the database: a client that caches answers because of the stream
 * must then ask again.
 * @throws Gone when the changes after `last` are no longer known.
 */
export async function changesSince<Data>(
  changes: Changes,
  last: string | undefined,
  tell: (change: LoggedChange) => Data | undefined,
): Promise<AsyncIterable<SentChange<Data>>> {
  const seq = last === undefined ? undefined : Number(last);
  if (seq !== undefined && (await changes.since(seq)) === undefined) throw Gone('Last-Event-ID: too old');
  return stream(changes, seq, tell);
}

/** Subscribes before it reads the missed changes, so that none is lost in between; ends when the missed changes are unknown. */
async function* stream<Data>(
  changes: Changes,
  seq: number | undefined,
  tell: (change: LoggedChange) => Data | undefined,
): AsyncIterable<SentChange<Data>> {
  const toEvents = (change: LoggedChange): SentChange<Data>[] => {
    const data = tell(change);
    return data === undefined ? [] : [{ event: 'change', id: String(change.seq), data }];
  };
  let waiting: LoggedChange[] = [];
  let lost = false;
  let wake = () => {};
  const unsubscribe = changes.subscribe((change) => {
    if (change === 'all' || waiting.length === most) lost = true;
    else waiting.push(change);
    wake();
  });
  try {
    const missed = seq === undefined ? [] : await changes.since(seq);
    if (missed === undefined) return;
    yield* missed.flatMap(toEvents);
    while (!lost) {
      const next = waiting;
      waiting = [];
      if (next.length > 0) yield* next.flatMap(toEvents);
      else if (changes.fresh()) yield { comment: 'hb' };
      if (waiting.length === 0) await new Promise<void>((resolve) => setTimeout((wake = resolve), beat));
    }
  } finally {
    unsubscribe();
  }
}
