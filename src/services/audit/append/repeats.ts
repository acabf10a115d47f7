import { Conflict } from '../../../lib/errors.ts';
import type { Sql } from '../../../db/index.ts';
import { sha256 } from '../record/mac-key.ts';
import { appendStore, type EventKey } from './append.store.ts';
import type { Placed } from './chained.ts';
import type { Recording } from './recording.ts';

/** How often keys may change hands before the write gives up. */
const mostRounds = 20;

/**
 * Decides by the idempotency keys which events are new. An event whose key stands for the same input is a duplicate of that one; a request
 * with a key that stands for another input gets an error, and nothing of it is recorded.
 */
export async function judgeRepeats(
  sql: Sql,
  recordings: readonly Recording[],
  retentionMs: number,
): Promise<void> {
  const sent = new Map(
    recordings
      .flatMap(({ events }) => events)
      .flatMap((placed) => {
        const key = keyOf(placed);
        return key === undefined ? [] : [[placed, key] as const];
      }),
  );
  if (sent.size === 0) return void judge(recordings, sent, new Map());
  const store = appendStore(sql);
  const own = new Map<string, EventKey>();
  for (let round = 0; round < mostRounds; round++) {
    const foreign = new Map(
      (await store.keys([...sent.values()]))
        .map((key) => [nameOf(key), key] as const)
        .filter(([name]) => !own.has(name)),
    );
    const wanted = judge(recordings, sent, foreign);
    const missing = [...wanted.values()].filter((key) => !own.has(nameOf(key)));
    const taken = missing.length === 0 ? [] : await store.takeKeys(missing, retentionMs);
    for (const key of taken) own.set(nameOf(key), key);
    if (taken.length < missing.length) continue;
    const unused = [...own.values()].filter((key) => !wanted.has(nameOf(key)));
    if (unused.length > 0) await store.freeKeys(unused);
    return;
  }
  throw new Error('idempotency keys kept changing hands');
}

/** Returns the keys that the accepted requests need, each for its first event. */
function judge(
  recordings: readonly Recording[],
  sent: ReadonlyMap<Placed, EventKey>,
  foreign: ReadonlyMap<string, EventKey>,
): Map<string, EventKey> {
  const wanted = new Map<string, EventKey>();
  for (const recording of recordings) {
    const own = new Map<string, EventKey>();
    delete recording.error;
    recording.recorded = recording.events.map((placed) => {
      const key = sent.get(placed);
      const known = key && (foreign.get(nameOf(key)) ?? wanted.get(nameOf(key)) ?? own.get(nameOf(key)));
      if (known !== undefined && !known.digest.equals(key!.digest)) recording.error = KeyUsed();
      if (key !== undefined && known === undefined) own.set(nameOf(key), key);
      return { id: known?.eventId ?? placed.event.id, duplicate: known !== undefined };
    });
    if (recording.error === undefined) for (const [name, key] of own) wanted.set(name, key);
  }
  return wanted;
}

const KeyUsed = () => Conflict('idempotency key was used for another event');

function keyOf({ event, stream }: Placed): EventKey | undefined {
  if (event.repeat === undefined) return undefined;
  const { tenant, app, id, repeat } = event;
  return {
    tenant,
    app,
    key: sha256(repeat.key),
    eventId: id,
    digest: stream.indexKey.of(`input\0${repeat.input}`),
  };
}

const nameOf = ({ tenant, app, key }: EventKey): string => `${tenant}\n${app}\n${key.toString('base64')}`;
