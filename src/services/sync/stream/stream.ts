import type { PresenceEvent, PullResponse } from '../../../../generated/sync/types.ts';
import { changesOf, type Page, readPage, type Reading } from '../pull/pages.ts';
import { type Position, watermarkOf, watermarkText } from '../pull/watermarks.ts';
import type { Dataset } from '../dataset.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../../../lib/errors.ts';
import { presenceStore } from '../presence/presence.store.ts';
import { newsOf, type PresenceNews } from '../presence/presence-news.ts';
import type { Arrived, Subscription } from './subscription.ts';
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

type StreamDeps = Pick<Deps, 'db' | 'hooks' | 'settings'>;

const resync: Sent = { event: 'resync', data: { error: 'resync required' } };

/**
 * Sends the changes after a position, first from the database and then as they arrive. A stream is only a position: when news were lost
 * because its reader is slow, it reads them from the database.
 */
export async function* stream(
  { db, hooks, settings }: StreamDeps,
  { dataset, reading, topics, first, rev }: Opening,
  subscription: Subscription,
): AsyncGenerator<Sent> {
  const endsAt = performance.now() + settings.streamMaxAgeMs;
  const isShared = reading.without === undefined && !hooks.seesOutbound;
  const filter = reading.tables === undefined ? undefined : new Set(reading.tables);
  const filterName = reading.tables?.join() ?? '';
  let position = first.next;
  let revision = rev;
  /** Whether the reader has been told of its position. */
  let isTold = true;
  let page: Page | undefined = first;
  /** Whether news may be missing: at the start, what came after the first page and before the subscription. */
  let isBehind = true;

  function* told(changes: PullResponse['Changes'], hasMore: boolean): Generator<Sent> {
    isTold = changes.length > 0;
    if (isTold) yield changesEvent(changes, position, hasMore);
  }

  /** Sends what arrived, without what the reader has already. */
  async function* arrived(news: Arrived): AsyncGenerator<Sent> {
    const { to, epoch, cells } = news;
    const isWhole = news.from === position.stamp;
    const [before, after] = [position.stamp, { stamp: to, epoch }];
    position = after;
    if (isWhole && isShared) {
      const text = await sharedText(news, filter, filterName);
      isTold = text !== undefined;
      if (text !== undefined) yield { event: 'changes', id: watermarkText(after), data: text };
      return;
    }
    const mine = cells.filter(({ cell, arrival }) => arrival > before && (filter?.has(cell.table) ?? true));
    const changes = await changesOf(mine, reading.without);
    yield* told(hooks.seesOutbound ? await hooks.outbound(changes, reading.context) : changes, false);
  }

  function* presence(news: PresenceNews): Generator<Sent> {
    revision = news.to;
    for (const data of news.events) if (topics?.has(data.Topic) ?? true) yield { event: 'presence', data };
  }

  /** Reads a page from the database; undefined when the reader has to begin again. */
  const read = () =>
    readPage({ db, hooks }, dataset, reading, position, batch).catch((error: unknown) => {
      if (error instanceof DomainError && error.kind === 'gone') return undefined;
      throw error;
    });

  async function* missedPresence(): AsyncGenerator<Sent> {
    for (let hasMore = settings.presence === 'on'; hasMore;) {
      const missed = await presenceStore(db.sql).after(dataset, revision, batch.limit);
      if (missed.rows.length > 0) yield* presence(newsOf(missed.rows, revision));
      hasMore = missed.hasMore;
    }
  }

  yield { retry: settings.streamRetryMs };
  while (!subscription.isClosed) {
    if (page !== undefined) {
      position = page.next;
      yield* told(page.changes, page.hasMore);
      isBehind ||= page.hasMore;
      page = undefined;
      continue;
    }
    if (isBehind || subscription.takeLoss()) {
      isBehind = false;
      if ((page = await read()) === undefined) return yield resync;
      yield* missedPresence();
      continue;
    }
    const news = subscription.take();
    if (news?.kind === 'reset') return yield resync;
    if (news?.kind === 'presence' && news.to > revision) yield* presence(news);
    if (news?.kind === 'arrived' && news.to > position.stamp) {
      if (position.epoch !== undefined && news.epoch !== position.epoch) return yield resync;
      if (news.from <= position.stamp) yield* arrived(news);
      else if ((page = await read()) === undefined) return yield resync;
    }
    if (news !== undefined) continue;
    const left = endsAt - performance.now();
    if (left <= 0) return;
    const silentFrom = performance.now();
    await subscription.wait(Math.min(settings.streamKeepaliveMs, left));
    if (performance.now() - silentFrom < settings.streamKeepaliveMs) continue;
    // A reader that gets nothing of what happens resumes near the present nevertheless.
    if (isTold) yield { comment: 'keep-alive' };
    else yield changesEvent([], position, false);
    isTold = true;
  }
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
