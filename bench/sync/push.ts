/** Pushes, against a bare statement that stores the same rows, and many at once against one after the other. */
import type { Database } from '../../src/db/index.ts';
import { arrivalsOf } from '../../src/services/sync/push/arrivals.ts';
import { onServer } from '../jobs/place.ts';
import { atLeast, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { paired } from '../statistics.ts';
import { createPushing, writes } from './service.ts';

const records = 20_000;

export function push(): AsyncIterable<Row> {
  const path = 'push 1,000 changes to 20,000 records';
  // The database was migrated a moment ago and is never analysed: its plans must be right from the start.
  return onServer(path, '≥ 0.7 ×', async function* ({ db }) {
    await db.sql`create table sync.bare (like sync.cells including all)`;
    const pushing = createPushing(db);
    const [batches, size] = [sized(60, 6), 1_000];
    const rate = async (store: () => Promise<unknown>) => {
      const began = performance.now();
      for (let nth = 0; nth < batches; nth++) await store();
      return (batches * size * 1_000) / (performance.now() - began);
    };
    const { ratio, a, b } = await paired(
      () => rate(() => pushing(writes(size, records))),
      () => rate(() => storeBare(db, size)),
      3,
    );
    yield atLeast(ratio, 0.7, {
      path,
      baseline: 'the same rows by a bare `insert … on conflict do update`',
      measured: `${round(a)} changes/s against ${round(b)}/s`,
    });
  });
}

async function storeBare({ sql }: Database, size: number): Promise<void> {
  const changes = writes(size, records);
  const { cells, highest } = await arrivalsOf(changes, changes);
  const each = <Value>(of: (cell: (typeof cells)[number]) => Value) => cells.map(of);
  await sql`
    insert into sync.bare as known (tenant_id, app_id, tbl, pk, field, kind, sub, hlc, value, inc, dec, removed, arrival)
    select 'acme', 'default', tbl, pk, field, 'l', '', hlc, value, 0, 0, '', ${String(highest)}::bigint + position
    from unnest(
      ${each(({ table }) => table)}::text[], ${each(({ pk }) => pk)}::text[], ${each(({ field }) => field)}::text[],
      ${each(({ hlc }) => hlc)}::text[], ${each(({ value }) => value)}::text[]
    ) with ordinality as given(tbl, pk, field, hlc, value, position)
    on conflict on constraint bare_pkey
    do update set hlc = excluded.hlc, value = excluded.value, arrival = excluded.arrival where excluded.hlc > known.hlc`;
}

export function joinedPushes(): AsyncIterable<Row> {
  const nodes = 500;
  const path = `${nodes} nodes push one change each at once`;
  return onServer(path, '≥ 5 ×', async function* ({ db }) {
    const pushing = createPushing(db);
    const turns = sized(4);
    const changes = () => Array.from({ length: nodes }, (_, n) => writes(1, records, `node-${n}`));
    const { ratio, a, b } = await paired(
      async () => {
        const began = performance.now();
        for (let turn = 0; turn < turns; turn++) await Promise.all(changes().map((one) => pushing(one)));
        return (turns * nodes * 1_000) / (performance.now() - began);
      },
      async () => {
        const began = performance.now();
        for (const one of changes().slice(0, sized(nodes, 50))) await pushing(one);
        return (sized(nodes, 50) * 1_000) / (performance.now() - began);
      },
      3,
    );
    yield atLeast(ratio, 5, {
      path,
      baseline: 'the same one after the other',
      measured: `${round(a)} pushes/s against ${round(b)}/s`,
    });
  });
}
