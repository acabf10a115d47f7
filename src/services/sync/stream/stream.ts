import type { Page } from '../pull/pages.ts';
import { createSender, type Opening, type SenderDeps, type Sent } from './sender.ts';
import type { Subscription } from './subscription.ts';

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
      if ((page = await sender.read()) === undefined) return yield resync;
      yield* sender.missedPresence();
      continue;
    }
    const news = subscription.take();
    if (news?.kind === 'reset') return yield resync;
    if (news?.kind === 'presence') yield* sender.presence(news);
    if (news?.kind === 'arrived') {
      const { stamp, epoch } = sender.position();
      if (epoch !== undefined && news.epoch !== epoch) return yield resync;
      if (news.from > stamp) isBehind = true;
      else if (news.to > stamp) yield* sender.arrived(news);
    }
    if (news !== undefined) continue;
    if (sender.silenceLeft() <= 0) yield* sender.keepAlive();
    await subscription.wait(Math.min(sender.silenceLeft(), endsAt - performance.now()));
  }
}
