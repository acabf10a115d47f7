import type { PresenceNews } from '../presence/presence-news.ts';
import type { ArrivedCell } from '../pull/pages.store.ts';

/** What arrived at a data set from one stamp to another. */
export interface Arrived {
  readonly kind: 'arrived';
  readonly from: bigint;
  readonly to: bigint;
  readonly epoch: string;
  readonly cells: readonly ArrivedCell[];
  /** Bytes, roughly. */
  readonly weight: number;
  /** The texts of the event for streams that send the same of it, by what they send. */
  readonly texts: Map<string, Promise<string | undefined>>;
}

/** The positions of the data set were set back, so that nobody can resume at one. */
export interface Reset {
  readonly kind: 'reset';
  readonly weight: number;
}

export type News = Arrived | PresenceNews | Reset;

/** What waits for one stream. A slow reader loses it and reads from the database where it stands, so that it holds little memory. */
export interface Subscription {
  offer(news: News): void;
  take(): News | undefined;
  /** Whether news were lost since the last call. */
  takeLoss(): boolean;
  /** Resolves when there are news, at the latest after so many milliseconds, or when it is closed. */
  wait(ms: number): Promise<void>;
  close(): void;
  readonly isClosed: boolean;
}

/** The most bytes that wait for one stream. */
const mostWaiting = 1024 ** 2;

export function createSubscription(onClose: (subscription: Subscription) => void): Subscription {
  let waiting: News[] = [];
  let weight = 0;
  let isLost = false;
  let isClosed = false;
  let wake = () => {};

  const subscription: Subscription = {
    offer(news) {
      if (waiting.length > 0 && weight + news.weight > mostWaiting) {
        waiting = waiting.filter(({ kind }) => kind === 'reset');
        weight = 0;
        isLost = true;
      } else {
        waiting.push(news);
        weight += news.weight;
      }
      wake();
    },
    take() {
      const news = waiting.shift();
      if (news) weight -= news.weight;
      return news;
    },
    takeLoss() {
      const lost = isLost;
      isLost = false;
      return lost;
    },
    async wait(ms) {
      if (waiting.length > 0 || isLost || isClosed || ms <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      wake = () => {};
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      onClose(subscription);
      wake();
    },
    get isClosed() {
      return isClosed;
    },
  };
  return subscription;
}
