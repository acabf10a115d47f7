import type { Page } from '../pull/pages.ts';
import type { Position } from '../pull/watermarks.ts';
import { createSender, type Opening, type SenderDeps, type Sent } from './sender.ts';
import type { News, Subscription } from './subscription.ts';

const resync: Sent = { event: 'resync', data: { error: 'resync required' } };

/**
 * Sends the changes after a position, first from the database and then as they arrive. A stream is only a position: when news were lost
 * because its reader is slow, it reads them from the database.
 */
export async function* stream(
  deps: SenderDeps,
  opening: Opening,
  subscription: Subscription,
): AsyncGenerator<Sent> {
  const { streamRetryMs, streamMaxAgeMs } = deps.settings;
  const endsAt = performance.now() + streamMaxAgeMs;
  const sender = createSender(deps, opening);
  let page: Page | undefined = opening.first;
  /** Whether news may be missing: at the start, what came after the first page and before the subscription. */
  let isBehind = true;

  yield { retry: streamRetryMs };
  while (!subscription.isClosed && performance.now() < endsAt) {
    if (page !== undefined) {
      yield* sender.page(page);
      isBehind ||= page.hasMore;
      page = undefined;
      continue;
    }
    if (isBehind || subscription.takeLoss()) {
      isBehind = false;
      if ((page = await sender.read()) === undefined) {
        yield resync;
        return;
      }
      yield* sender.missedPresence();
      continue;
    }
    const news = subscription.take();
    if (news !== undefined && isReset(news, sender.position())) {
      yield resync;
      return;
    }
    if (news?.kind === 'presence') yield* sender.presence(news);
    if (news?.kind === 'arrived') {
      const { stamp } = sender.position();
      if (news.from > stamp) isBehind = true;
      else if (news.to > stamp) yield* sender.arrived(news);
    }
    if (news !== undefined) continue;
    if (sender.silenceLeft() <= 0) yield* sender.keepAlive();
    await subscription.wait(Math.min(sender.silenceLeft(), endsAt - performance.now()));
  }
}

/** Whether the position of the reader is worth nothing any more. */
const isReset = (news: News, { epoch }: Position): boolean =>
  news.kind === 'reset' || (news.kind === 'arrived' && epoch !== undefined && news.epoch !== epoch);
