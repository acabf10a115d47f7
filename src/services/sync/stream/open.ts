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
import { type Sent, stream } from './stream.ts';
import type { Subscription } from './subscription.ts';
import { batch } from './tail.ts';
import type { Tails } from './tails.ts';

type StreamDeps = Pick<Deps, 'db' | 'hooks' | 'settings' | 'resyncs'> & { readonly tails: Tails };

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
    return now ? { stamp: now.clock, epoch: now.epoch } : beginning;
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
    if (open >= settings.maxStreams) throw TooManyStreams();
    open += 1;
    let subscription: Subscription | undefined;
    const close = () => {
      open -= 1;
      subscription?.close();
    };
    try {
      subscription = await tails.subscribe(dataset);
      const reader = node_id === undefined ? undefined : { node: node_id, subject };
      const rev = settings.presence === 'on' ? (await presenceStore(db.sql).revisions([dataset]))[0]! : 0;
      const first = await noting(resyncs, dataset, reader, () =>
        readPage({ db, hooks }, dataset, reading, from, batch),
      );
      const named = topics === undefined ? undefined : new Set(topics.split(','));
      const opening = { dataset, reading, topics: named, from, first, rev };
      return closing(stream(deps, opening, subscription), close);
    } catch (error) {
      close();
      throw error;
    }
  };
}

/** The events, with what must happen at their end, also when nobody has asked for the first one. */
function closing(events: AsyncGenerator<Sent>, close: () => void): AsyncIterable<Sent> {
  let isClosed = false;
  const end = () => {
    if (!isClosed) close();
    isClosed = true;
  };
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        try {
          const next = await events.next();
          if (next.done) end();
          return next;
        } catch (error) {
          end();
          throw error;
        }
      },
      return() {
        end();
        return events.return(undefined);
      },
    }),
  };
}
