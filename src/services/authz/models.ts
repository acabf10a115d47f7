import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../db/index.ts';
import { Invalid } from '../../lib/errors.ts';
import { LOAD_DEADLINE, VALIDATION_DEADLINE, within } from './deadline.ts';
import type { Model } from './engine/model.ts';
import type { Change, KnownIds, Listing, ListingPage, Outcome, SliceKey } from './engine/types.ts';
import { DatabaseClock, type Entry, monotonic, newEntry } from './model-entry.ts';
import { Follower } from './model-follow.ts';
import { loadModel } from './model-load.ts';
import { makeRoom } from './model-memory.ts';
import type { Settings } from './settings.ts';
import { sliceStore } from './slices.store.ts';

/** How new the data of a decision must be; without it at most `MAX_STALENESS` old. */
export interface Freshness {
  /** Decide at this revision or a newer one. */
  readonly min_revision?: number | undefined;
  /** Decide at the newest committed revision. */
  readonly fresh?: boolean | undefined;
}

/** Milliseconds. */
const ROOM_INTERVAL = 100;

export type ModelSettings = Pick<
  Settings,
  'maxStaleness' | 'pollInterval' | 'staleGrace' | 'preloadFacts' | 'memory'
>;

/**
 * The models of this process, one a tenant, and all I/O around them. A decision never reflects a state older than
 * `MAX_STALENESS`, nor one older than what this process acknowledged: where neither can be proved it is refused as
 * unavailable. With the embedded database this process is the only writer, so its models are always current.
 */
export class Models {
  readonly clock = new DatabaseClock();
  readonly #db: Database;
  readonly #settings: ModelSettings;
  readonly #follower: Follower;
  readonly #entries = new Map<string, Entry>();
  readonly #alone: boolean;
  #roomMade = -Infinity;

  constructor(db: Database, settings: ModelSettings) {
    this.#db = db;
    this.#settings = settings;
    this.#follower = new Follower(db, this.clock);
    this.#alone = db.engine === 'pglite';
  }

  /** Decides at one revision: runs `decide` until no slice is missing any more. */
  async decide<Answer>(
    tenant: string,
    freshness: Freshness,
    decide: (model: Model, now: number) => Outcome<Answer>,
  ): Promise<{ answer: Answer; revision: number }> {
    const entry = this.#enter(tenant);
    let fetched = false;
    try {
      let model = await this.#prepare(entry, freshness);
      const now = this.clock.now();
      for (;;) {
        const outcome = decide(model, now);
        if (outcome.missing === undefined) return { answer: outcome.answer, revision: model.revision };
        fetched = true;
        await this.#fetch(entry, model, outcome.missing);
        model = this.#recent(entry) ?? (await this.#revive(entry));
      }
    } finally {
      this.#leave(entry, fetched);
    }
  }

  /** Makes one page of a listing; starts over when the model is dropped meanwhile. */
  async list(
    tenant: string,
    freshness: Freshness,
    begin: (model: Model, now: number) => Listing,
  ): Promise<ListingPage> {
    const entry = this.#enter(tenant);
    try {
      let model = await this.#prepare(entry, freshness);
      for (;;) {
        const page = await this.#run(entry, model, begin(model, this.clock.now()));
        if (page) return page;
        model = await this.#prepare(entry, freshness);
      }
    } finally {
      this.#leave(entry, true);
    }
  }

  /** Takes over a write of this process that was just committed. */
  async applied(tenant: string, revision: number, changes: readonly Change[]): Promise<void> {
    const entry = this.#entries.get(tenant);
    if (!entry) return;
    entry.acknowledged = Math.max(entry.acknowledged, revision);
    if (entry.model?.revision === revision - 1) entry.model.apply(changes);
    // The write is done whether or not the database is still there; the next decision catches up first.
    else await within(VALIDATION_DEADLINE, this.#follower.catchUp(entry, revision)).catch(() => {});
    this.#makeRoomAfterWrites();
  }

  /** Follows the writes of other processes; returns what stops it. */
  start(): () => void {
    if (this.#alone) return () => {};
    const unlisten = this.#db.notices.listen('authz', (notice) => this.#noticed(notice));
    const stopped = new AbortController();
    void this.#keepPolling(stopped.signal);
    return () => {
      stopped.abort();
      unlisten();
    };
  }

  /** Begins a request: what it uses stays in memory until it leaves. */
  #enter(tenant: string): Entry {
    let entry = this.#entries.get(tenant);
    if (!entry) this.#entries.set(tenant, (entry = newEntry(tenant)));
    entry.usedAt = monotonic();
    entry.polled = false;
    entry.users += 1;
    return entry;
  }

  #leave(entry: Entry, grown: boolean): void {
    entry.users -= 1;
    if (grown) makeRoom(this.#entries, this.#settings);
  }

  /** The model, if it can decide at once for a caller to whom a state of the moment `since` is new enough. */
  #current({ model, acknowledged, validatedAt }: Entry, since: number): Model | undefined {
    if (!model || model.revision < acknowledged) return undefined;
    return this.#alone || validatedAt >= since ? model : undefined;
  }

  /** The model, if it can decide at once for a caller who asks for nothing newer than `MAX_STALENESS`. */
  #recent(entry: Entry): Model | undefined {
    return this.#current(entry, monotonic() - this.#settings.maxStaleness);
  }

  /** The model for one request, as new as it asks for. */
  async #prepare(entry: Entry, { min_revision = 0, fresh = false }: Freshness): Promise<Model> {
    const now = monotonic();
    const model = fresh
      ? await this.#renew(entry, now)
      : (this.#recent(entry) ?? (await this.#revive(entry)));
    if (model.revision >= min_revision) return model;
    const newest = await this.#renew(entry, now);
    if (newest.revision < min_revision) throw Invalid('min_revision: not reached');
    return newest;
  }

  /**
   * The model at most `MAX_STALENESS` old, or, with the database away, at most `STALE_GRACE` older. Once that is known to
   * be so, decisions do not wait for it to be found again; the poll notices when the database is back.
   */
  async #revive(entry: Entry): Promise<Model> {
    const { maxStaleness, staleGrace } = this.#settings;
    const graced = () =>
      staleGrace > 0 ? this.#current(entry, monotonic() - maxStaleness - staleGrace) : undefined;
    const waiting = entry.away ? graced() : undefined;
    if (waiting) return waiting;
    try {
      return await this.#renew(entry, monotonic() - maxStaleness);
    } catch (error) {
      const model = graced();
      if (model) return model;
      throw error;
    }
  }

  /** The model as new as the given moment: loaded, caught up and validated as far as it is needed. */
  async #renew(entry: Entry, since: number): Promise<Model> {
    for (;;) {
      const current = this.#current(entry, since);
      if (current) return current;
      if (!entry.model) await within(LOAD_DEADLINE, this.#load(entry));
      else if (entry.model.revision < entry.acknowledged)
        await within(VALIDATION_DEADLINE, this.#follower.catchUp(entry, entry.acknowledged));
      else await (entry.validating ?? this.#follower.validate([entry]));
    }
  }

  /** One load at a time; all who wait share it. */
  #load(entry: Entry): Promise<void> {
    return (entry.loading ??= this.#loadNow(entry).finally(() => (entry.loading = undefined)));
  }

  async #loadNow(entry: Entry): Promise<void> {
    const began = monotonic();
    const { model, now } = await loadModel(this.#db, entry.tenant, this.#settings);
    if (!this.#alone) this.clock.observe(now, began, monotonic());
    entry.model = model;
    entry.validatedAt = began;
    makeRoom(this.#entries, this.#settings);
  }

  /** Fetches slices into a partial model, in one statement. The snapshot they come from validates the model too. */
  async #fetch(entry: Entry, model: Model, missing: readonly SliceKey[]): Promise<void> {
    const began = monotonic();
    const fetch = model.beginFetch();
    try {
      const { slices, revision } = await within(
        VALIDATION_DEADLINE,
        sliceStore(this.#db.sql).read(entry.tenant, missing),
      );
      if (model.revision < revision)
        await within(VALIDATION_DEADLINE, this.#follower.catchUp(entry, revision));
      if (entry.model !== model) return;
      model.addSlices(fetch, slices, revision);
      entry.validatedAt = Math.max(entry.validatedAt, began);
    } finally {
      model.endFetch(fetch);
    }
  }

  /** Gives a listing what it asks for; undefined when its model is no longer the tenant's. */
  async #run(entry: Entry, model: Model, listing: Listing): Promise<ListingPage | undefined> {
    let given: KnownIds | undefined;
    for (;;) {
      const { done, value: step } = listing.next(given);
      if (done) return step;
      given = undefined;
      if (step.need === 'missing') await this.#fetch(entry, model, step.slices);
      else if (step.need === 'pause') await setImmediate();
      else
        given = await within(
          LOAD_DEADLINE,
          sliceStore(this.#db.sql).known(entry.tenant, step.type, step.after, step.count),
        );
      const current = this.#recent(entry) ?? (await this.#revive(entry));
      if (current !== model) return undefined;
    }
  }

  async #keepPolling(stopped: AbortSignal): Promise<void> {
    const { pollInterval } = this.#settings;
    while (!stopped.aborted) {
      // What a poll cannot prove, the next decision finds out.
      await this.#poll().catch(() => {});
      await delay(pollInterval, undefined, { signal: stopped, ref: false }).catch(() => {});
    }
  }

  /** Validates the models that decided something since the last time. */
  async #poll(): Promise<void> {
    const entries = [...this.#entries.values()].filter(
      ({ polled, model, validating }) => !polled && model !== undefined && validating === undefined,
    );
    for (const entry of entries) entry.polled = true;
    if (entries.length > 0) await this.#follower.validate(entries);
    makeRoom(this.#entries, this.#settings);
  }

  #noticed(notice: string): void {
    const [tenant = '', revision = ''] = notice.split(' ');
    const entry = this.#entries.get(tenant);
    // A failure here costs nothing: the poll comes anyway.
    if (entry?.model) this.#follower.catchUp(entry, Number(revision)).catch(() => {});
  }

  /** Writes make models grow too, but come too often to look every time. */
  #makeRoomAfterWrites(): void {
    if (monotonic() - this.#roomMade < ROOM_INTERVAL) return;
    this.#roomMade = monotonic();
    makeRoom(this.#entries, this.#settings);
  }
}
