import { DatabaseClock, monotonic } from '../../db/clock.ts';
import type { Database } from '../../db/index.ts';
import { follow } from '../../db/tail.ts';
import { Invalid } from '../../lib/errors.ts';
import { loadDeadlineMs, validationDeadlineMs, within } from './deadline.ts';
import type { Model } from './engine/model.ts';
import type {
  Change,
  KnownIds,
  Listing,
  ListingPage,
  Outcome,
  Pace,
  SliceKey,
  Work,
} from './engine/types.ts';
import { type Entry, ended, newEntry, settled } from './model-entry.ts';
import { Follower } from './model-follow.ts';
import { loadModel } from './model-load.ts';
import { makeRoom } from './model-memory.ts';
import type { Settings } from './settings.ts';
import { sliceStore } from './slices.store.ts';
import { Slices, Turns } from './turns.ts';

/** How new the data of a decision must be. Without it, the data is at most `MAX_STALENESS` old. */
export interface Freshness {
  /** Decide at this revision or a newer one. */
  readonly min_revision?: number | undefined;
  /** Decide at the newest committed revision. */
  readonly fresh?: boolean | undefined;
}

/** In milliseconds. */
const roomIntervalMs = 100;

export type ModelSettings = Pick<
  Settings,
  'maxStaleness' | 'pollInterval' | 'staleGrace' | 'preloadFacts' | 'memory'
>;

/**
 * The models of this process, one per tenant, and all I/O around them. A decision never reflects a state older than
 * `MAX_STALENESS`, nor one older than the state this process acknowledged: when neither can be proved, the decision is refused
 * as unavailable. With the embedded database this process is the only writer, so its models are always current.
 */
export class Models {
  readonly clock = new DatabaseClock();
  /** The turns that all tenants of this process take. */
  readonly turns = new Turns();
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

  /** Decides at one revision: runs `decide` until no slice is missing, and lets other tasks run when that takes long. */
  async decide<Answer>(
    tenant: string,
    freshness: Freshness,
    decide: (model: Model, now: number, pace: Pace) => Outcome<Answer> | Work<Answer>,
  ): Promise<{ answer: Answer; revision: number }> {
    const entry = this.#enter(tenant);
    const pace = new Slices(this.turns, tenant);
    let fetched = false;
    try {
      let model = await this.#prepare(entry, freshness);
      const now = this.clock.now();
      if (this.turns.isSpent) {
        await this.turns.next(tenant);
        model = this.#recent(entry) ?? (await this.#revive(entry));
      }
      for (;;) {
        const begun = decide(model, now, pace);
        const outcome = 'next' in begun ? await this.#work(entry, model, begun, pace) : begun;
        pace.end();
        if (outcome?.answer !== undefined) return { answer: outcome.answer, revision: model.revision };
        if (outcome?.missing !== undefined) {
          fetched = true;
          await this.#fetch(entry, model, outcome.missing);
        }
        model = this.#recent(entry) ?? (await this.#revive(entry));
      }
    } finally {
      pace.end();
      this.#leave(entry, fetched);
    }
  }

  /** Runs work in time slices, all at one revision. Returns undefined when the model has moved on and the work has to start again. */
  async #work<Answer>(
    entry: Entry,
    model: Model,
    work: Work<Answer>,
    pace: Slices,
  ): Promise<Outcome<Answer> | undefined> {
    const { revision } = model;
    try {
      for (;;) {
        const step = work.next();
        if (step.done === true) return step.value;
        entry.paused.add(work);
        await pace.pause();
        if (entry.model !== model || model.revision !== revision) return undefined;
      }
    } finally {
      ended(entry, work);
    }
  }

  /** Builds one page of a listing. Starts over when the model is dropped meanwhile. */
  async list(
    tenant: string,
    freshness: Freshness,
    begin: (model: Model, now: number) => Listing,
  ): Promise<ListingPage> {
    const entry = this.#enter(tenant);
    const pace = new Slices(this.turns, tenant);
    try {
      let model = await this.#prepare(entry, freshness);
      for (;;) {
        if (this.turns.isSpent) await this.turns.next(tenant);
        const page = await this.#run(entry, model, begin(model, this.clock.now()), pace);
        if (page) return page;
        model = await this.#prepare(entry, freshness);
      }
    } finally {
      this.#leave(entry, true);
    }
  }

  /** Applies a write of this process that was just committed. */
  async applied(tenant: string, revision: number, changes: readonly Change[]): Promise<void> {
    const entry = this.#entries.get(tenant);
    if (!entry) return;
    entry.acknowledged = Math.max(entry.acknowledged, revision);
    if (entry.paused.size > 0) await settled(entry);
    if (entry.model?.revision === revision - 1) entry.model.apply(changes);
    // The write is done whether or not the database is still reachable. The next decision catches up first.
    else await within(validationDeadlineMs, this.#follower.catchUp(entry, revision)).catch(() => {});
    this.#makeRoomAfterWrites();
  }

  /** Follows the writes of other processes. Returns a function that stops it. */
  start(): () => void {
    return follow({
      db: this.#db,
      channel: 'authz',
      pollMs: this.#settings.pollInterval,
      onNotice: (notice) => this.#noticed(notice),
      // The next decision detects whatever a failed poll missed.
      poll: () => void this.#poll().catch(() => {}),
      forget: () => this.#forget(),
    });
  }

  #forget(): void {
    for (const entry of this.#entries.values()) entry.model = undefined;
  }

  /** Begins a request. What the request uses stays in memory until it leaves. */
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

  /** Returns the model if it can decide at once for a caller that accepts any state since `since`. */
  #current({ model, acknowledged, validatedAt }: Entry, since: number): Model | undefined {
    if (!model || model.revision < acknowledged) return undefined;
    return this.#alone || validatedAt >= since ? model : undefined;
  }

  /** Returns the model if it can decide at once for a caller that accepts data up to `MAX_STALENESS` old. */
  #recent(entry: Entry): Model | undefined {
    return this.#current(entry, monotonic() - this.#settings.maxStaleness);
  }

  /** Returns the model for one request, as new as the request demands. */
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
   * Returns the model at most `MAX_STALENESS` old, or at most `STALE_GRACE` older while the database is unreachable. Once that
   * state is known, decisions do not wait to detect it again: the poll notices when the database is back.
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

  /** Returns the model as new as the given moment: loads, catches up and validates it as far as necessary. */
  async #renew(entry: Entry, since: number): Promise<Model> {
    for (;;) {
      const current = this.#current(entry, since);
      if (current) return current;
      if (!entry.model) await within(loadDeadlineMs, this.#load(entry));
      else if (entry.model.revision < entry.acknowledged)
        await within(validationDeadlineMs, this.#follower.catchUp(entry, entry.acknowledged));
      else await (entry.validating ?? this.#follower.validate([entry]));
    }
  }

  /** Runs one load at a time; all waiting callers share it. */
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

  /** Fetches slices into a partial model, in one statement. Their snapshot validates the model too. */
  async #fetch(entry: Entry, model: Model, missing: readonly SliceKey[]): Promise<void> {
    const began = monotonic();
    const fetch = model.beginFetch();
    try {
      const { slices, revision } = await within(
        validationDeadlineMs,
        sliceStore(this.#db.sql).read(entry.tenant, missing),
      );
      if (model.revision < revision)
        await within(validationDeadlineMs, this.#follower.catchUp(entry, revision));
      if (entry.model !== model) return;
      model.addSlices(fetch, slices, revision);
      entry.validatedAt = Math.max(entry.validatedAt, began);
    } finally {
      model.endFetch(fetch);
    }
  }

  /** Gives a listing what it asks for. Returns undefined when its model is no longer the tenant's. */
  async #run(entry: Entry, model: Model, listing: Listing, pace: Slices): Promise<ListingPage | undefined> {
    let given: KnownIds | undefined;
    for (;;) {
      pace.begin();
      const { done, value: step } = listing.next(given);
      pace.end();
      if (done) return step;
      given = undefined;
      if (step.need === 'missing') await this.#fetch(entry, model, step.slices);
      else if (step.need === 'pause') await pace.pause();
      else
        given = await within(
          loadDeadlineMs,
          sliceStore(this.#db.sql).known(entry.tenant, step.type, step.after, step.count),
        );
      const current = this.#recent(entry) ?? (await this.#revive(entry));
      if (current !== model) return undefined;
    }
  }

  /** Validates the models that made a decision since the last poll. */
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
    // A failure here has no effect, since the poll runs anyway.
    if (entry?.model) this.#follower.catchUp(entry, Number(revision)).catch(() => {});
  }

  /** Writes make models grow too, but happen too often to check the memory after each. */
  #makeRoomAfterWrites(): void {
    if (monotonic() - this.#roomMade < roomIntervalMs) return;
    this.#roomMade = monotonic();
    makeRoom(this.#entries, this.#settings);
  }
}
