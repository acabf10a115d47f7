import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Sql } from '../../../db/index.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { lockKeys, type PersonKeys } from '../keys/persons.ts';
import { type Head, streamStore } from '../streams/streams.store.ts';
import { appendStore } from './append.store.ts';
import { chained, type ChainedEvent, ownersOf, type Placed } from './chained.ts';
import { judgeRepeats } from './repeats.ts';

/** What became of an event. */
export interface Recorded {
  /** Of the event itself, or of the one that was recorded before under the same key. */
  readonly id: string;
  readonly duplicate: boolean;
  /** The event as it was chained; absent for a duplicate. */
  chained?: ChainedEvent;
}

/** Events that are recorded all or none. */
export interface Recording {
  readonly events: readonly Placed[];
  recorded?: Recorded[];
  /** Why nothing of it was recorded. */
  error?: Error;
}

export interface RecordingDeps {
  readonly sealer: Sealer;
  readonly idempotencyMs: number;
}

/** Milliseconds of hashing after which other work has its turn. */
const sliceMs = 8;

/**
 * Records events in the transaction of `sql`, in this order, so that no two writes wait for each other: idempotency keys, keys of
 * persons, the ends of the streams. Who holds the end of a stream numbers its next event, so that a chain neither forks nor has gaps.
 */
export async function record(sql: Sql, recordings: readonly Recording[], deps: RecordingDeps): Promise<void> {
  await judgeRepeats(sql, recordings, deps.idempotencyMs);
  const fresh = recordings
    .filter(({ error }) => error === undefined)
    .flatMap(({ events, recorded }) => events.map((placed, at) => ({ placed, recorded: recorded![at]! })))
    .filter(({ recorded }) => !recorded.duplicate);
  if (fresh.length === 0) return;
  const keys = await lockKeys(
    sql,
    deps.sealer,
    fresh.flatMap(({ placed }) => ownersOf(placed)),
  );
  const heads = new Map(
    (await streamStore(sql).lock([...new Set(fresh.map(({ placed }) => placed.stream.id))])).map((head) => [
      head.id,
      head,
    ]),
  );
  await chainAll(fresh, heads, keys);
  const events = fresh.map(({ recorded }) => recorded.chained!);
  await Promise.all([appendStore(sql).insert(events), streamStore(sql).advance([...heads.values()])]);
}

async function chainAll(
  fresh: readonly { readonly placed: Placed; readonly recorded: Recorded }[],
  heads: Map<string, Head>,
  keys: PersonKeys,
): Promise<void> {
  let began = performance.now();
  for (const { placed, recorded } of fresh) {
    const { event, head } = chained(placed, heads.get(placed.stream.id)!, keys, Date.now());
    recorded.chained = event;
    heads.set(head.id, head);
    if (performance.now() - began < sliceMs) continue;
    await nextTurn();
    began = performance.now();
  }
}
