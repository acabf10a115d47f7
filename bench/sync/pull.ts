/** Pulls, against reading the same rows and writing them as JSON, and at the end of a long history against its beginning. */
import { pino } from 'pino';
import { toText } from '../../sdk/src/sync/hlc.ts';
import { createHooks } from '../../src/services/sync/hooks/hooks.ts';
import { readPage } from '../../src/services/sync/pull/pages.ts';
import { beginning, type Position } from '../../src/services/sync/pull/watermarks.ts';
import { onServer } from '../jobs/place.ts';
import { atLeast, atMostTimes, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { medianTimes, paired } from '../statistics.ts';
import { createPushing, dataset, writes } from './service.ts';

const hooks = createHooks([], pino({ level: 'silent' }));
const context = { tenantId: 'acme', appId: 'default', subject: 'root', nodeId: null, via: 'pull' } as const;
const reading = { tables: undefined, without: undefined, context };

export function pull(): AsyncIterable<Row> {
  const cells = sized(100_000, 5_000);
  const path = `pull ${round(cells)} changes`;
  return onServer(path, '≥ 0.5 ×', async function* ({ db }) {
    const pushing = createPushing(db);
    for (let stored = 0; stored < cells; stored += 5_000) await pushing(writes(5_000, cells));
    const size = { limit: 10_000, bytes: 4 * 1024 ** 2 };
    const page = (from: Position, limit = size.limit) =>
      readPage({ db, hooks }, dataset, reading, from, { ...size, limit });
    let deepest: Position = beginning;
    const all = async () => {
      const began = performance.now();
      for (let [at, more] = [beginning, true]; more;) {
        const { changes, next, hasMore } = await page(at);
        JSON.stringify({ changes, next: toText(changes.at(-1)!.hlc) });
        if (hasMore) deepest = next;
        [at, more] = [next, hasMore];
      }
      return cells / (performance.now() - began);
    };
    const bare = async () => {
      const began = performance.now();
      for (let [after, more] = ['0', true]; more;) {
        const rows = await db.sql<{ arrival: string }[]>`
          select tbl, pk, field, kind, hlc, node.id as node_id, value, arrival::text
          from sync.cells cross join lateral (select substr(hlc, 19) as id) as node
          where tenant_id = ${dataset.tenant} and app_id = ${dataset.app} and tbl = 'notes' and arrival > ${after}::bigint
          order by cells.arrival limit ${size.limit}`;
        JSON.stringify(rows);
        more = rows.length === size.limit;
        after = rows.at(-1)?.arrival ?? after;
      }
      return cells / (performance.now() - began);
    };
    const { ratio, a, b } = await paired(all, bare, 3);
    yield atLeast(ratio, 0.5, {
      path,
      baseline: 'reading the rows and `JSON.stringify`',
      measured: `${round(a * 1_000)} changes/s against ${round(b * 1_000)}/s`,
    });

    const [first, last] = await medianTimes(
      sized(60, 10),
      () => page(beginning, 1_000),
      () => page(deepest, 1_000),
    );
    yield atMostTimes(last / first, 1.3, {
      path: 'a page of 1,000 at the end of the history',
      baseline: 'the first page',
      measured: `${round(last)} ms against ${round(first)} ms`,
    });
  });
}
