import type { Changes } from '../../../../generated/sync/server.ts';
import type { Context } from '../../../http/context.ts';
import { Invalid } from '../../../lib/errors.ts';
import { type Dataset, datasetOf, subjectOf } from '../dataset.ts';
import type { Deps } from '../deps.ts';
import { TooManyStreams } from '../errors.ts';
import { contextOf } from '../hooks/hooks.ts';
import { presenceStore } from '../presence/presence.store.ts';
import { readPage } from '../pull/pages.ts';
import { pageStore } from '../pull/pages.store.ts';
import { noting } from '../pull/pull.ts';
import { beginning, type Position, positionOfText } from '../pull/watermarks.ts';
import type { Opening, Sent } from './sender.ts';
import { stream } from './stream.ts';
import type { Subscription } from './subscription.ts';
import { batch } from './tail.ts';
import type { Tails } from './tails.ts';

type StreamDeps = Pick<Deps, 'db' | 'hooks' | 'settings' | 'resyncs'> & { readonly tails: Tails };

/**
 * Where a reader stands who wants only what comes, before anything has: not the beginning, from which a node gets its own changes too.
 */
const beforeAll: Position = { stamp: 1n };

/** Opens streams, of which a process has so many. */
export function streamHandler(deps: StreamDeps): Changes<Context>['stream'] {
  const { db, hooks, settings, resyncs, tails } = deps;
  let open = 0;

  async function positionAt(
    dataset: Dataset,
    since: string | undefined,
    last: string | undefined,
  ): Promise<Position> {
    if (last !== undefined) return positionOfText(last, 'Last-Event-ID');
    if (since === undefined) return beginning;
    if (since !== 'now') return positionOfText(since, 'since');
    const [now] = await pageStore(db.sql).clocks([dataset]);
    return now ? { stamp: now.clock, epoch: now.epoch } : beforeAll;
  }

  return async (request, context) => {
    const { tables, since, node_id, topics, exclude_own, 'Last-Event-ID': last } = request;
    if (exclude_own && node_id === undefined) throw Invalid('exclude_own: needs node_id');
    const [dataset, subject] = [datasetOf(context), subjectOf(context)];
    const from = await positionAt(dataset, since, last);
    const reading = {
      tables: tables?.split(','),
      without: exclude_own ? node_id : undefined,
      context: contextOf(dataset, { subject: subject.owner, nodeId: node_id ?? null, via: 'stream' }),
    };
    const reader = node_id === undefined ? undefined : { node: node_id, subject };
    const named = topics === undefined ? undefined : new Set(topics.split(','));
    const leave = enter();
    try {
      const rev = settings.presence === 'on' ? (await presenceStore(db.sql).revisions([dataset]))[0]! : 0;
      const first = await noting(resyncs, dataset, reader, () =>
        readPage({ db, hooks }, dataset, reading, from, batch),
      );
      return started({ dataset, reading, topics: named, first, rev }, leave);
    } catch (error) {
      leave();
      throw error;
    }
  };

  /** Takes a place at once, so that no two streams take the last one. Returns the function that gives it back. */
  function enter(): () => void {
    if (open >= settings.maxStreams) throw TooManyStreams();
    open += 1;
    let isHeld = true;
    return () => {
      if (isHeld) open -= 1;
      isHeld = false;
    };
  }

  /** When the client of a stream goes away, the stream does not wait for what comes next. */
  function started(opening: Opening, leave: () => void): AsyncIterable<Sent> {
    let subscription: Subscription | undefined;
    async function* events(): AsyncGenerator<Sent> {
      try {
        subscription = await tails.subscribe(opening.dataset);
        yield* stream(deps, opening, subscription);
      } finally {
        subscription?.close();
        leave();
      }
    }
    return {
      [Symbol.asyncIterator]() {
        const sent = events();
        return {
          next: () => sent.next(),
          return() {
            subscription?.close();
            leave();
            return sent.return(undefined);
          },
        };
      },
    };
  }
}
