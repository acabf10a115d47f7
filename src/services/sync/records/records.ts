import type { Records } from '../../../../generated/sync/server.ts';
import type { RecordState } from '../../../../generated/sync/types.ts';
import type { Cell } from '../../../../sdk/src/sync/cells.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { NotFound } from '../../../lib/errors.ts';
import { type Dataset, datasetOf } from '../dataset.ts';
import type { Deps } from '../deps.ts';
import { recordState } from './record-state.ts';
import { byKey, recordStore } from './records.store.ts';

export function records({ db }: Pick<Deps, 'db'>) {
  const store = recordStore(db.sql);

  /** The records of the keys, as many as fit into a response; the first one, even if only a part of it fits. */
  async function statesOf(dataset: Dataset, table: string, keys: readonly string[]): Promise<RecordState[]> {
    const { cells, isCut } = await store.cells(dataset, table, keys);
    const byRecord = Map.groupBy(cells, ({ pk }) => pk);
    const whole = [...byRecord];
    const last = isCut ? whole.pop() : undefined;
    if (last !== undefined && whole.length === 0) return [await cutState(dataset, table, last)];
    return whole.map(([pk, of]) => recordState({ table, pk }, of));
  }

  async function cutState(
    dataset: Dataset,
    table: string,
    [pk, cells]: [string, Cell[]],
  ): Promise<RecordState> {
    const sums = await store.sums(dataset, table, pk);
    return recordState({ table, pk }, cells, new Map(sums.map(({ field, sum }) => [field, sum])));
  }

  return {
    async list({ table, ...request }, context) {
      const window = windowOf(request, byKey);
      const dataset = datasetOf(context);
      const keys = await store.keys(dataset, table, window);
      const states = keys.length === 0 ? [] : await statesOf(dataset, table, keys.slice(0, window.limit));
      // Records that did not fit begin the next page.
      const hasMore = keys.length > states.length;
      return answerPage(context.reply, window, states, hasMore ? states.at(-1) : undefined);
    },

    async get({ table, pk }, context) {
      const [state] = await statesOf(datasetOf(context), table, [pk]);
      if (state === undefined) throw NotFound('record');
      return state;
    },
  } satisfies Records<Context>;
}
