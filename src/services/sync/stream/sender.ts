import type { PresenceEvent, PullResponse } from '../../../../generated/sync/types.ts';
import { DomainError } from '../../../lib/errors.ts';
import type { Dataset } from '../dataset.ts';
import type { Deps } from '../deps.ts';
import { newsOf, type PresenceNews } from '../presence/presence-news.ts';
import { presenceStore } from '../presence/presence.store.ts';
import { authorOf, changesOf, type Page, readPage, type Reading } from '../pull/pages.ts';
import { type Position, watermarkOf, watermarkText } from '../pull/watermarks.ts';
import type { Arrived } from './subscription.ts';
import { batch } from './tail.ts';

/** An event of a stream. */
export type Sent =
  | { readonly event: 'changes'; readonly id: string; readonly data: PullResponse }
  | { readonly event: 'presence'; readonly data: PresenceEvent }
  | { readonly event: 'resync'; readonly data: { error: string } }
  | { readonly comment: string }
  | { readonly retry: number };

/** What a stream sends, and where it is. */
export interface Opening {
  readonly dataset: Dataset;
  readonly reading: Reading;
  /** The topics of which it sends presence; undefined for all. */
  readonly topics: ReadonlySet<string> | undefined;
  /** The first page, which was read before the stream began. */
  readonly first: Page;
  /** The revision of presence from which on it sends. */
  readonly rev: number;
}

export type SenderDeps = Pick<Deps, 'db' | 'hooks' | 'settings'>;

/** What one stream sends of what it is given, and where its reader stands. */
export interface Sender {
  readonly position: () => Position;
  /** Reads from the database what follows the position; undefined when the reader has to begin again. */
  read(): Promise<Page | undefined>;
  page(page: Page): Generator<Sent>;
  /** Sends what arrived, without what the reader has already. */
  arrived(news: Arrived): AsyncGenerator<Sent>;
  presence(news: PresenceNews): Generator<Sent>;
  /** Reads from the database the presence that the reader has not heard of. */
  missedPresence(): AsyncGenerator<Sent>;
  /** Milliseconds until something must be sent, so that proxies do not take the connection for dead. */
  silenceLeft(): number;
  keepAlive(): Generator<Sent>;
}

export function createSender(
  { db, hooks, settings }: SenderDeps,
  { dataset, reading, topics, first, rev }: Opening,
): Sender {
  /** Most news are none of the node's own, so that it gets what all others get. */
  const isShared = ({ cells }: Arrived) =>
    !hooks.seesOutbound &&
    (reading.without === undefined || cells.every(({ cell }) => authorOf(cell) !== reading.without));
  const filter = reading.tables === undefined ? undefined : new Set(reading.tables);
  const filterName = reading.tables?.join() ?? '';
  let position = first.next;
  let revision = rev;
  /** The position of which the reader knows. */
  let toldStamp: bigint | undefined;
  let sentAt = performance.now();

  function* sent(event: Sent): Generator<Sent> {
    sentAt = performance.now();
    yield event;
  }
  function* changes(given: PullResponse['Changes'], hasMore: boolean): Generator<Sent> {
    if (given.length === 0) return;
    toldStamp = position.stamp;
    yield* sent(changesEvent(given, position, hasMore));
  }
  function* presence(news: PresenceNews): Generator<Sent> {
    if (news.to <= revision) return;
    revision = news.to;
    for (const data of news.events)
      if (topics?.has(data.Topic) ?? true) yield* sent({ event: 'presence', data });
  }

  return {
    position: () => position,
    presence,
    async read() {
      try {
        return await readPage({ db, hooks }, dataset, reading, position, batch);
      } catch (error) {
        if (error instanceof DomainError && error.kind === 'gone') return undefined;
        throw error;
      }
    },
    *page(page) {
      position = page.next;
      yield* changes(page.changes, page.hasMore);
    },
    async *arrived(news) {
      const { from, to, epoch, cells } = news;
      const before = position.stamp;
      position = { stamp: to, epoch };
      if (from === before && isShared(news)) {
        const data = await sharedText(news, filter, filterName);
        if (data === undefined) return;
        toldStamp = to;
        yield* sent({ event: 'changes', id: watermarkText(position), data });
        return;
      }
      const mine = cells.filter(({ cell, arrival }) => arrival > before && (filter?.has(cell.table) ?? true));
      const made = await changesOf(mine, reading.without);
      yield* changes(hooks.seesOutbound ? await hooks.outbound(made, reading.context) : made, false);
    },
    async *missedPresence() {
      for (let hasMore = settings.presence === 'on'; hasMore;) {
        const missed = await presenceStore(db.sql).after(dataset, revision, batch.limit);
        if (missed.rows.length > 0) yield* presence(newsOf(missed.rows, revision));
        hasMore = missed.hasMore;
      }
    },
    silenceLeft: () => sentAt + settings.streamKeepaliveMs - performance.now(),
    *keepAlive() {
      // A reader that gets nothing of what happens resumes near the present nevertheless.
      const isTold = position.epoch === undefined || toldStamp === position.stamp;
      toldStamp = position.stamp;
      yield* sent(isTold ? { comment: 'keep-alive' } : changesEvent([], position, false));
    },
  };
}

const changesEvent = (Changes: PullResponse['Changes'], position: Position, HasMore: boolean): Sent => ({
  event: 'changes',
  id: watermarkText(position),
  data: { Changes, LatestHLC: watermarkOf(position), HasMore },
});

/**
 * The data of an event that many streams send, which are written once; undefined when none of the changes are theirs. The frame sends
 * text as it is.
 */
function sharedText(
  { texts, cells, to, epoch }: Arrived,
  filter: ReadonlySet<string> | undefined,
  name: string,
): Promise<PullResponse | undefined> {
  let text = texts.get(name);
  if (text === undefined) {
    text = (async () => {
      const mine = filter === undefined ? cells : cells.filter(({ cell }) => filter.has(cell.table));
      if (mine.length === 0) return undefined;
      const Changes = await changesOf(mine, undefined);
      return JSON.stringify({ Changes, LatestHLC: watermarkOf({ stamp: to, epoch }), HasMore: false });
    })();
    texts.set(name, text);
  }
  return text as Promise<unknown> as Promise<PullResponse | undefined>;
}
