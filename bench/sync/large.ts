/** What a data set of very many cells and nodes costs, against one of a few thousand. */
import { pino } from 'pino';
import type { ChangeInput } from '../../generated/sync/types.ts';
import type { Database } from '../../src/db/index.ts';
import { createHooks } from '../../src/services/sync/hooks/hooks.ts';
import { readPage } from '../../src/services/sync/pull/pages.ts';
import { beginning } from '../../src/services/sync/pull/watermarks.ts';
import { onServer } from '../jobs/place.ts';
import { atMostTimes, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { medianTimes } from '../statistics.ts';
import { createPushing, dataset, writes } from './service.ts';

interface Compared {
  readonly baseline: string;
  readonly ofLarge: () => Promise<unknown>;
  readonly ofSmall: () => Promise<unknown>;
}

const few = 20_000;
const amongFew = `the same among ${round(few)}`;
const small = { tenant: 'small', app: 'default' };
const hooks = createHooks([], pino({ level: 'silent' }));
const context = { tenantId: '', appId: 'default', subject: 'root', nodeId: null, via: 'pull' } as const;

/** Pushes and pulls among very many cells, of very many nodes. */
export function large(): AsyncIterable<Row> {
  const [cells, nodes] = [sized(10_000_000, 100_000), sized(10_000, 100)];
  const path = `push 1,000 changes all over ${round(cells)} cells`;
  return onServer(path, '≤ 2 ×', async function* ({ db }) {
    const pushing = createPushing(db);
    for (const to of [small, dataset]) for (let n = 0; n < 4; n++) await pushing(writes(5_000, few), to);
    await fill(db, cells, nodes);
    yield await compared(2, path, {
      baseline: amongFew,
      ofLarge: () => pushing(writes(1_000, cells)),
      ofSmall: () => pushing(writes(1_000, few), small),
    });
    const page = (of: typeof dataset) => () =>
      readPage({ db, hooks }, of, { tables: undefined, without: undefined, context }, beginning, {
        limit: 1_000,
        bytes: 4 * 1024 ** 2,
      });
    yield await compared(1.3, `a page of 1,000 of ${round(cells)} changes`, {
      baseline: amongFew,
      ofLarge: page(dataset),
      ofSmall: page(small),
    });
  });
}

/** An add to a set, whose cost must not grow with the set. */
export function largeSet(): AsyncIterable<Row> {
  const elements = sized(100_000, 5_000);
  const path = `add 10 elements to a set of ${round(elements)}`;
  return onServer(path, '≤ 1.3 ×', async function* ({ db }) {
    const pushing = createPushing(db);
    const adds = (count: number, pk: string) =>
      writes(count, 1).map(({ hlc, ...change }, nth): ChangeInput => {
        const element = `element-${hlc.timestamp}-${hlc.counter}-${nth}`;
        const set_op = { op: 'add', element } as const;
        return { ...change, hlc, pk, field: 'tags', crdt_type: 'set', value: null, set_op };
      });
    for (let stored = 0; stored < elements; stored += 5_000) await pushing(adds(5_000, 'large'));
    yield await compared(1.3, path, {
      baseline: 'to a set that begins empty',
      ofLarge: () => pushing(adds(10, 'large')),
      ofSmall: () => pushing(adds(10, 'small')),
    });
  });
}

async function compared(most: number, path: string, { baseline, ofLarge, ofSmall }: Compared): Promise<Row> {
  const [a, b] = await medianTimes(sized(100, 10), ofLarge, ofSmall);
  return atMostTimes(a / b, most, {
    path,
    baseline,
    measured: `${round(a)} ms against ${round(b)} ms`,
  });
}

/** Cells as rows, because so many pushes would take long; their nodes have pushed before. */
async function fill(db: Database, cells: number, nodes: number): Promise<void> {
  const { tenant, app } = dataset;
  const batch = 500_000;
  for (let from = 0; from < cells; from += batch)
    await db.maintenance(
      (sql) => sql`
        insert into sync.cells (tenant_id, app_id, tbl, pk, field, kind, sub, hlc, value, inc, dec, removed, arrival)
        select ${tenant}, ${app}, 'notes', 'note-' || n, 'title', 'l', '',
          lpad(to_hex(1700000000000 + n), 12, '0') || '-0000-node-' || n % ${nodes}::integer, '"A title of some length"', 0, 0, '', n
        from generate_series(${from}::integer, ${Math.min(from + batch, cells) - 1}::integer) as n
        on conflict do nothing`,
    );
  await db.sql`
    insert into sync.nodes (tenant_id, app_id, node_id, owner)
    select ${tenant}, ${app}, 'node-' || n, 'root:root' from generate_series(0, ${nodes}::integer) as n
    on conflict do nothing`;
}
