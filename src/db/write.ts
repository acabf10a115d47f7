import type { Changes, RecordedChange } from './changes.ts';
import { emit, type Event, type Written } from './outbox.ts';
import type { Sql } from './sql.ts';

/** The author of a write: the tenant and the app that it belongs to, and the actor. */
export interface Author {
  readonly tenant: string;
  readonly app: string;
  readonly actor: string;
}

/** Prepares the delivery of a write's events, in its transaction. `written` resolves with the ids and times of the events. */
export type Deliver = (
  sql: Sql,
  events: readonly [Event, ...Event[]],
  written: Promise<readonly Written[]>,
) => Promise<unknown>;

/** What to store at the end of a write, besides its rows and events. */
export interface Settling {
  /** The log that records the changes. A write that notes changes needs a log. */
  readonly log?: Pick<Changes, 'record'>;
  readonly deliver?: Deliver;
  /** Further statements of the service, which are already in flight. */
  readonly also?: readonly Promise<unknown>[];
}

/**
 * One write in its transaction, with what it notes besides the rows: events for subscribers of the service, and changes for
 * caches. Both are committed with the rows or not at all.
 */
export class UnitOfWork {
  readonly #events: Event[] = [];
  readonly #changes: RecordedChange[] = [];
  readonly #source: Event['source'];
  readonly sql: Sql;
  readonly author: Author;

  constructor(sql: Sql, author: Author, service: string) {
    this.sql = sql;
    this.author = author;
    this.#source = `/${service}`;
  }

  /** Notes an event by its full name, `<service>.<resource>.<verb>`. `data` never holds a secret. */
  emit(type: string, subject: string, data: object): void {
    const { tenant, app, actor } = this.author;
    this.#events.push({ source: this.#source, type, subject, tenant, app, actor, data });
  }

  /** Notes that cached copies of something are outdated. */
  changed(change: RecordedChange): void {
    this.#changes.push(change);
  }

  /** The changes noted so far. */
  get changes(): readonly RecordedChange[] {
    return this.#changes;
  }

  /** Stores the noted events and changes. All statements are sent together, so they take one round trip. */
  async settle({ log, deliver = (_sql, _events, written) => written, also = [] }: Settling): Promise<void> {
    const [first, ...rest] = this.#events;
    if (this.#changes.length > 0 && log === undefined) throw new TypeError('changes need a log');
    await Promise.all([
      ...also,
      first && deliver(this.sql, [first, ...rest], emit(this.sql, first, ...rest)),
      this.#changes.length > 0 && log?.record(this.sql, ...this.#changes),
    ]);
  }
}
