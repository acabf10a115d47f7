import type { StreamLine } from '../../../../generated/audit/types.ts';
import type { Database } from '../../../db/index.ts';
import { eventStore } from './events.store.ts';
import { storedRecord } from './views.ts';

/** The rows of one statement of an export: few, because an event may have 64 KiB. */
const pageSize = 50;

/** What is stored of a part of a stream, in its order. */
export async function* streamLines(
  { db }: { readonly db: Database },
  stream: { readonly id: string; readonly tenant_id: string },
  from: number,
  to: number,
): AsyncGenerator<StreamLine> {
  for (let next = from; next <= to;) {
    const rows = await eventStore(db.sql).run(stream, next, to, pageSize);
    for (const row of rows) {
      const { sequence, run_id, hash } = row;
      yield run_id === null
        ? { sequence, ...storedRecord(row), run_id }
        : { sequence, hash: hash.toString('hex'), record: null, actor: null, content: null, run_id };
    }
    if (rows.length < pageSize) return;
    next = rows.at(-1)!.sequence + 1;
  }
}
