import { randomInt } from 'node:crypto';
import { toDomainError } from '../../../db/errors.ts';
import { groupCommit } from '../../../db/group-commit.ts';
import type { Sql } from '../../../db/index.ts';
import { emit, type Event } from '../../../db/outbox.ts';
import { DomainError } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { QueueFull } from '../errors.ts';
import type { Lines } from '../lines.ts';
import { keyStore } from '../vault/keys.store.ts';
import { type NewToken, tokenStore } from '../vault/tokens.store.ts';
import { type NewScan, scanStore } from './scans.store.ts';
import { type HourCount, statsStore } from './stats.store.ts';

/** Everything that a scan leaves behind. */
export interface ScanRecord extends NewScan {
  readonly tokens: readonly NewToken[];
  readonly events: readonly Event[];
}

/** What became of a record. */
export type Kept =
  | 'stored'
  /** The key that its originals were sealed with is destroyed; nothing was stored. */
  | 'key destroyed'
  /** These of its tokens stand for other values; nothing was stored. */
  | { readonly taken: readonly string[] };

export interface Recorder {
  /** Resolves when the record is committed as a whole, or when it cannot be as it is. */
  keep(record: ScanRecord): Promise<Kept>;
  /** How many records wait to be committed. */
  readonly waiting: () => number;
  stop(): Promise<void>;
}

interface Item {
  readonly record: ScanRecord;
  kept?: Kept;
  failure?: unknown;
}

/** The most originals of a scan that is committed together with others. */
const mostTokens = 100;

/** The most scans, and about the most characters of them, that are committed together: they are written in one turn. */
const mostScans = 256;
const mostCharacters = 1024 * 1024;
/** About the characters of a scan besides its texts. */
const usualCharacters = 2_000;

/** Slots of the counters: processes draw one, so that they hardly ever wait for the same row. */
const slots = 256;

/** Stores scans with their counters, originals and events. Scans that end while a commit is in flight share the next one. */
export function createRecorder({
  db,
  settings,
  lines,
}: Pick<Deps, 'db' | 'settings'> & { readonly lines: Lines }): Recorder {
  const slot = randomInt(slots);
  let waiting = 0;

  const store = (items: readonly Item[]) =>
    db.transaction(async (sql) => {
      const refused = await storeTokens(sql, items);
      const stored = items.filter((item) => !refused.has(item));
      // A refused scan of a group takes the group along, because its tokens are in the transaction: each is then tried alone.
      if (refused.size > 0) throw new Refused(refused);
      const scans = stored.map(({ record }) => record);
      await Promise.all([
        scanStore(sql).insert(scans),
        statsStore(sql).add(countsOf(scans), slot),
        emitAll(sql, scans),
      ]);
    });

  async function storeTokens(sql: Sql, items: readonly Item[]): Promise<Map<Item, Kept>> {
    const tokens = items.flatMap(({ record }) => record.tokens);
    const refused = new Map<Item, Kept>();
    if (tokens.length === 0) return refused;
    const living = await keyStore(sql).hold([...new Set(tokens.map(({ key_id }) => key_id))]);
    const taken = await tokenStore(sql).put(tokens, settings.vaultTtlMs);
    for (const item of items) {
      const own = item.record.tokens;
      const lost =
        taken.size === 0 ? [] : own.filter(({ tenant_id, token }) => taken.has(`${tenant_id} ${token}`));
      if (own.some(({ key_id }) => !living.has(key_id))) refused.set(item, 'key destroyed');
      else if (lost.length > 0) refused.set(item, { taken: lost.map(({ token }) => token) });
    }
    return refused;
  }

  async function storeOne(item: Item): Promise<void> {
    try {
      await store([item]);
      item.kept = 'stored';
    } catch (error) {
      if (error instanceof Refused) item.kept = error.refused.get(item)!;
      else item.failure = error;
    }
  }

  const isHeavy = ({ record }: Item) => record.tokens.length > mostTokens;

  const commits = groupCommit<Item>({
    maxBatch: mostScans,
    maxBacklog: settings.queue,
    weight: { of: ({ record }) => charactersOf(record), most: mostCharacters },
    overloaded: QueueFull,
    async write(items) {
      try {
        await store(items);
        for (const item of items) item.kept = 'stored';
      } catch (error) {
        const known = toDomainError(error);
        // One bad scan must not fail the others; a database that is away fails all of them.
        if (known instanceof DomainError && known.kind === 'storeUnavailable') throw error;
        for (const item of items) await storeOne(item);
      }
    },
  });

  return {
    async keep(record) {
      const item: Item = { record };
      waiting++;
      try {
        // What takes long to store is stored apart, so that only its own tenant waits for it.
        if (isHeavy(item)) await lines.run(`scans ${record.result.tenant_id}`, () => storeOne(item));
        else await commits.add(item);
      } finally {
        waiting--;
      }
      if (item.kept === undefined) throw toDomainError(item.failure) as Error;
      return item.kept;
    },
    waiting: () => waiting,
    stop: () => commits.close(),
  };
}

function charactersOf({ result: { redacted, redacted_messages } }: ScanRecord): number {
  return redacted_messages.reduce(
    (sum, { content }) => sum + content.length,
    usualCharacters + redacted.length,
  );
}

/** Thrown to roll back what was written for scans that cannot be stored as they are. */
class Refused extends Error {
  readonly refused: ReadonlyMap<Item, Kept>;

  constructor(refused: ReadonlyMap<Item, Kept>) {
    super('scans cannot be stored as they are');
    this.refused = refused;
  }
}

async function emitAll(sql: Sql, scans: readonly ScanRecord[]): Promise<void> {
  const [first, ...rest] = scans.flatMap(({ events }) => events);
  if (first !== undefined) await emit(sql, first, ...rest);
}

function countsOf(scans: readonly ScanRecord[]): HourCount[] {
  const counts = new Map<string, HourCount>();
  for (const { result } of scans) {
    const { tenant_id, direction, decision } = result;
    const hour = result.created_at.slice(0, hourLength);
    const key = `${tenant_id} ${hour} ${direction} ${decision}`;
    const n = (counts.get(key)?.n ?? 0) + 1;
    counts.set(key, { tenant_id, hour: `${hour}:00:00.000Z`, direction, decision, n });
  }
  return [...counts.values()];
}

/** The characters of a moment down to its hour. */
const hourLength = '2026-11-20T09'.length;
