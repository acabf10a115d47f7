import { type DatabaseClock, monotonic } from '../../db/clock.ts';
import type { Database } from '../../db/index.ts';
import { changeStore, type TenantChange } from './changes.store.ts';
import { validationDeadlineMs, within } from './deadline.ts';
import type { Change } from './engine/types.ts';
import { type Entry, settled } from './model-entry.ts';
import { tenantStore } from './tenants.store.ts';

/** Maximum number of revisions that a model catches up on. Further behind, reloading it is cheaper. */
const PULL_LIMIT = 10_000;

/** Keeps loaded models at the database's revision: reads the change log for models that fell behind. */
export class Follower {
  readonly #db: Database;
  readonly #clock: DatabaseClock;
  #batch: { entries: Entry[]; done: Promise<void> } | undefined;

  constructor(db: Database, clock: DatabaseClock) {
    this.#db = db;
    this.#clock = clock;
  }

  /**
   * Compares the models with the newest committed revisions and brings them up to date, in one statement plus one for the
   * models that fell behind. Afterwards they are at least as new as the moment this began. Each model has one validation at a
   * time.
   */
  validate(entries: readonly Entry[]): Promise<void> {
    const settle = (away: boolean) => () => {
      for (const entry of entries) Object.assign(entry, { away, validating: undefined });
    };
    const done = within(validationDeadlineMs, this.#validate(entries));
    done.then(settle(false), settle(true));
    for (const entry of entries) entry.validating = done;
    return done;
  }

  /** Brings a model to a revision that is known to be committed. Drops the model when the change log does not reach back far enough. */
  async catchUp(entry: Entry, revision: number): Promise<void> {
    // A pull in progress may have begun before the revision was committed.
    await entry.pulling?.catch(() => {});
    await settled(entry);
    if (!entry.model || entry.model.revision >= revision) return;
    if (revision - entry.model.revision <= PULL_LIMIT) await (entry.pulling ?? this.#pull(entry));
    if (entry.model && entry.model.revision < revision) entry.model = undefined;
  }

  async #validate(entries: readonly Entry[]): Promise<void> {
    const known = entries.map(({ model }) => model?.revision ?? 0);
    const began = monotonic();
    const rows = await tenantStore(this.#db.sql).revisions(entries.map(({ tenant }) => tenant));
    if (rows[0]) this.#clock.observe(rows[0].now, began, monotonic());
    const newest = new Map(rows.map(({ tenant_id, revision }) => [tenant_id, revision]));
    await Promise.all(
      entries.map(async (entry, place) => {
        const revision = newest.get(entry.tenant) ?? 0;
        // The database went back, for example to a replica that had not received everything, so the model is no longer true.
        if (revision < (known[place] ?? 0)) entry.model = undefined;
        await this.catchUp(entry, revision);
        if (entry.model) entry.validatedAt = Math.max(entry.validatedAt, began);
      }),
    );
  }

  /** Models that ask in the same turn of the event loop are pulled in the same statement. */
  #pull(entry: Entry): Promise<void> {
    this.#batch ??= this.#newBatch();
    this.#batch.entries.push(entry);
    return (entry.pulling = this.#batch.done.finally(() => (entry.pulling = undefined)));
  }

  #newBatch() {
    const entries: Entry[] = [];
    const done = Promise.resolve().then(() => {
      this.#batch = undefined;
      return this.#pullAll(entries);
    });
    return { entries, done };
  }

  async #pullAll(entries: readonly Entry[]): Promise<void> {
    const behind = entries.flatMap(({ tenant, model }) =>
      model ? [{ tenant, model, revision: model.revision }] : [],
    );
    const rows = await changeStore(this.#db.sql).since(behind);
    const changes = byTenant(rows);
    for (const { tenant, model } of behind) {
      const own = changes.get(tenant);
      if (own) model.apply(own);
    }
  }
}

function byTenant(rows: readonly TenantChange[]): Map<string, Change[]> {
  const tenants = new Map<string, Change[]>();
  for (const { tenant_id, change } of rows) {
    const changes = tenants.get(tenant_id);
    if (changes) changes.push(change);
    else tenants.set(tenant_id, [change]);
  }
  return tenants;
}
