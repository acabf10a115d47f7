import { randomBytes } from 'node:crypto';
import type { Sql } from '../../../db/index.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { lockKeys } from '../keys/persons.ts';
import { inSlices } from '../../../lib/slices.ts';
import { streamStore } from '../streams/streams.store.ts';
import { appendStore } from './append.store.ts';
import { chained, type ChainedEvent, owned, type Placed } from './chained.ts';
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

const saltLength = 16;

/** The most events that one statement inserts, and about the most bytes: the driver writes a statement without a pause. */
const insertedEvents = 125;
const insertedBytes = 512 * 1_024;

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
  const theirs = await inSlices(fresh, ({ placed }) => owned(placed));
  const persons = theirs.flatMap(({ actorPerson, contentPerson }) => [actorPerson, contentPerson]);
  const keys = await lockKeys(
    sql,
    deps.sealer,
    persons.filter((person) => person !== undefined),
  );
  const heads = new Map(
    (await streamStore(sql).lock([...new Set(fresh.map(({ placed }) => placed.stream.id))])).map((head) => [
      head.id,
      head,
    ]),
  );
  const inserting = insertions(sql);
  // At once, because asking for random bytes takes longer than hashing a record.
  const salts = randomBytes(theirs.length * saltLength);
  await inSlices(theirs, (owned, at) => {
    const salt = salts.subarray(at * saltLength, (at + 1) * saltLength);
    const last = heads.get(owned.stream.id);
    if (last === undefined) throw new Error('a stream has no row');
    const { event, head } = chained(owned, last, keys, salt, Date.now());
    fresh[at]!.recorded.chained = event;
    heads.set(head.id, head);
    inserting.add(event);
  });
  await Promise.all([inserting.end(), streamStore(sql).advance([...heads.values()])]);
}

/**
 * Inserts events in parts of a bounded size, in their order, each as soon as it is complete: the database works on one while the next
 * is encrypted and hashed.
 */
function insertions(sql: Sql) {
  const store = appendStore(sql);
  const sent: Promise<void>[] = [];
  let part: ChainedEvent[] = [];
  let bytes = 0;
  const send = () => {
    const inserted = store.insert(part);
    // A failure is thrown at the end; the work on the next events goes on meanwhile.
    inserted.catch(() => {});
    sent.push(inserted);
    [part, bytes] = [[], 0];
  };
  return {
    add(event: ChainedEvent): void {
      part.push(event);
      bytes += event.event.bytes;
      if (part.length >= insertedEvents || bytes >= insertedBytes) send();
    },
    async end(): Promise<void> {
      if (part.length > 0) send();
      await Promise.all(sent);
    },
  };
}
