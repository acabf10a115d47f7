import type { Change } from '../../../../generated/sync/types.ts';
import { nodeOf } from '../../../../sdk/src/sync/hlc.ts';
import { changeOf } from '../../../../sdk/src/sync/changes.ts';
import type { Database } from '../../../db/index.ts';
import { inSlices } from '../../../lib/slices.ts';
import type { Dataset } from '../dataset.ts';
import { ResyncRequired } from '../errors.ts';
import type { Hooks, SyncContext } from '../hooks/hooks.ts';
import { type ArrivedCell, type CellPage, pageStore, type Range } from './pages.store.ts';
import { isFirstPull, isStale, type Position } from './watermarks.ts';

/** Who reads, and what of it. */
export interface Reading {
  readonly tables: readonly string[] | undefined;
  /** The node whose own changes are left out. */
  readonly without: string | undefined;
  readonly context: SyncContext;
}

export interface Page {
  readonly changes: Change[];
  /** Where the reader stands after it. */
  readonly next: Position;
  readonly hasMore: boolean;
}

/** Reads what arrived after a position. @throws Gone when the reader has to begin again */
export async function readPage(
  { db, hooks }: { readonly db: Database; readonly hooks: Hooks },
  dataset: Dataset,
  { tables, without, context }: Reading,
  from: Position,
  size: Pick<Range, 'limit' | 'bytes'>,
): Promise<Page> {
  const page = await pageStore(db.sql).read(dataset, { tables, after: from.stamp, ...size });
  if (isStale(from, page.life)) throw ResyncRequired();
  const own = isFirstPull(from) ? undefined : without;
  const changes = await changesOf(page.cells, own);
  return {
    changes: hooks.seesOutbound ? await hooks.outbound(changes, context) : changes,
    next: nextOf(from, page),
    hasMore: page.hasMore,
  };
}

/** The changes that bring cells to a node, without those that it made itself. */
export const changesOf = (cells: readonly ArrivedCell[], without: string | undefined): Promise<Change[]> =>
  inSlices(
    without === undefined ? cells : cells.filter(({ cell }) => authorOf(cell) !== without),
    ({ cell }) => changeOf(cell),
  );

/** The node that last changed a cell. */
export const authorOf = ({ hlc, removed }: ArrivedCell['cell']): string =>
  nodeOf(removed === '' ? hlc : removed);

/** While more follows, a reader stands at the last cell of the page; at the end, at the clock of the data set. */
function nextOf(from: Position, { life, cells, hasMore }: CellPage): Position {
  if (life === undefined) return from;
  const { clock, epoch } = life;
  if (!hasMore) return { stamp: clock, epoch };
  const stamp = cells.at(-1)!.arrival;
  return isFirstPull(from) ? { stamp, epoch, start: from.start ?? clock } : { stamp, epoch };
}
