import type { PullRequest, PullResponse } from '../../../../generated/sync/types.ts';
import type { Context } from '../../../http/context.ts';
import { DomainError, Invalid } from '../../../lib/errors.ts';
import { type Dataset, datasetOf, subjectOf } from '../dataset.ts';
import type { Deps } from '../deps.ts';
import { contextOf } from '../hooks/hooks.ts';
import { pageBytes } from '../limits.ts';
import { nodeStore } from '../nodes.store.ts';
import type { Reader } from '../resyncs.ts';
import { readPage } from './pages.ts';
import { positionOf, watermarkOf } from './watermarks.ts';

/** Answers with the changes since a watermark. */
export const pullHandler =
  ({ db, hooks, resyncs }: Pick<Deps, 'db' | 'hooks' | 'resyncs'>) =>
  async ({ body }: { body: PullRequest }, context: Context): Promise<PullResponse> => {
    const { Tables, Since, NodeID, Limit, ExcludeOwn } = body;
    const [dataset, subject] = [datasetOf(context), subjectOf(context)];
    if (ExcludeOwn && NodeID === undefined) throw Invalid('ExcludeOwn: needs NodeID');
    const reading = {
      tables: Tables.length > 0 ? Tables : undefined,
      without: ExcludeOwn ? NodeID : undefined,
      context: contextOf(dataset, { subject: subject.owner, nodeId: NodeID ?? null, via: 'pull' }),
    };
    const from = positionOf(Since, 'Since.node_id');
    const size = { limit: Limit, bytes: pageBytes };
    const reader = NodeID === undefined ? undefined : { node: NodeID, subject };
    const page = await noting(resyncs, dataset, reader, () =>
      readPage({ db, hooks }, dataset, reading, from, size),
    );
    if (reader) await nodeStore(db.sql).notePull(dataset, reader.node, subject.owner);
    return { Changes: page.changes, LatestHLC: watermarkOf(page.next), HasMore: page.hasMore };
  };

/** Reads, and says in an event when the reader has to begin again. */
export async function noting<T>(
  resyncs: Deps['resyncs'],
  dataset: Dataset,
  reader: Reader | undefined,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (reader && error instanceof DomainError && error.kind === 'gone')
      await resyncs.note(dataset, reader, 'stale watermark');
    throw error;
  }
}
