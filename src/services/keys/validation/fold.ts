import { withPartitions } from '../../../db/day-partitions.ts';
import type { Database } from '../../../db/index.ts';
import { emit, type Event } from '../../../db/outbox.ts';
import { staying, type Sweep } from '../../../db/sweeps.ts';
import { foldJournal, type LimitedKey } from './fold.store.ts';
import { journalStore, usagePartitions } from './journal.store.ts';

export interface Fold {
  /** Resolves when everything answered before the call can be read. */
  now(): Promise<void>;
  /** Folds in the background. */
  readonly sweep: Sweep;
}

/** Milliseconds between two folds in the background. */
const everyMs = 1_000;

/**
 * Moves usage from the journal to the tables that reads use, every second and before every read. When another
 * fold is running, a background fold leaves the work to it, and a fold before a read waits for it.
 */
export function createFold(db: Database): Fold {
  /** Returns false when no rows up to `upTo` are left or, if `wait` is false, when another fold is running. */
  async function step(upTo: number, wait: boolean): Promise<boolean> {
    return db.transaction(async (sql) => {
      const journal = journalStore(sql);
      if (wait) await journal.lock();
      else if (!(await journal.tryLock())) return false;
      const { more, limited } = await foldJournal(sql, upTo);
      const [first, ...rest] = limited.map(rateLimited);
      if (first !== undefined) await emit(sql, first, ...rest);
      return more;
    });
  }

  async function run(wait: boolean): Promise<void> {
    const upTo = await journalStore(db.sql).newest();
    if (upTo === null) return;
    for (let more = true; more;) more = await stepWithPartitions(upTo, wait);
  }

  const stepWithPartitions = (upTo: number, wait: boolean) =>
    withPartitions(db, usagePartitions, {
      work: () => step(upTo, wait),
      daysOf: (sql) => journalStore(sql).days(),
    });

  return {
    now: () => run(true),
    sweep: { name: 'keys.fold', everyMs, batch: 1, steps: [staying(everyMs, () => run(false))] },
  };
}

/** Builds the event for a key that keeps asking after its rate is used up: at most one per minute and key. */
function rateLimited(limited: LimitedKey): Event {
  return {
    source: '/keys',
    type: 'keys.key.rate_limited',
    subject: limited.key_id,
    tenant: limited.tenant_id,
    app: limited.app_id,
    actor: limited.key_id,
    data: { refused: limited.refused },
  };
}
