/** Tests that the database merges as the replicas do: they have to end in the same state. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChangeInput } from '../../../../generated/sync/types.ts';
import { type Cell, cellKey } from '../../../../sdk/src/sync/cells.ts';
import { cellsOf } from '../../../../sdk/src/sync/changes.ts';
import { merge, type RecordCells } from '../../../../sdk/src/sync/merge.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { recordState } from '../records/record-state.ts';
import { testNode, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let tenants = 0;
beforeAll(async () => {
  server = await testServer({ services: ['sync'], strict: false });
  api = tools(server);
});
afterAll(() => server.close());

const began = 1_700_000_000_000;
const hex = (time: number) => (began + time).toString(16).padStart(12, '0');
const element = fc.constantFrom('x', 1, { a: 1, b: 2 });
const time = fc.integer({ min: 2, max: 9 });
const node = fc.constantFrom('a', 'b', 'c');
const tag = fc.tuple(fc.integer({ min: 0, max: 8 }), node).map(([at, of]) => `${hex(at)}-0000-${of}`);

/** Totals fall when a node has lost its storage. */
const totals = fc.record({ inc: fc.nat(4), dec: fc.nat(4) });

/** Few times, nodes and names, so that everything collides with everything. */
const change = fc
  .tuple(
    ...([node, time, fc.constantFrom('p', 'q'), fc.constantFrom('f', 'g')] as const),
    fc.oneof(
      fc.constantFrom(1, '1', 'y', null).map((value) => ({ crdt_type: 'lww', value })),
      totals.map((counter_delta) => ({ crdt_type: 'counter', counter_delta })),
      fc
        .tuple(totals, tag)
        .map(([told, since]) => ({ crdt_type: 'counter', counter_delta: { ...told, since } })),
      element.map((one) => ({ crdt_type: 'set', set_op: { op: 'add', element: one } })),
      fc.tuple(element, fc.uniqueArray(tag, { minLength: 1, maxLength: 4 })).map(([one, tags]) => ({
        ...{ crdt_type: 'set', set_op: { op: 'remove', element: one, tags } },
      })),
      fc.constant({ field: '', tombstone: true }),
    ),
  )
  .map(([of, at, pk, field, rest]) => testNode(of).change({ pk, field, ...(rest as object) }, began + at))
  .filter(({ set_op, counter_delta, hlc }) => {
    const own = `${hex(hlc.timestamp - began)}-0000-${hlc.node_id}`;
    return [...(set_op?.tags ?? []), counter_delta?.since ?? ''].every((reading) => reading < own);
  });

/** The cells as replicas keep them, whose keys of totals that fell are others. */
function asMerged(cells: readonly Cell[]): Cell[] {
  const records = Map.groupBy(cells, ({ pk }) => pk);
  return [...records.values()].flatMap((of) => {
    const record: RecordCells = new Map();
    for (const cell of of) merge(record, cell);
    return [...record.values()];
  });
}

const byKey = (a: Cell, b: Cell) => (a.pk + cellKey(a) < b.pk + cellKey(b) ? -1 : 1);

test(
  'every history leaves the same cells and the same view, in any order and portion',
  { timeout: 120_000 },
  async () => {
    const history = fc.array(fc.array(change, { minLength: 1, maxLength: 12 }), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(history, async (pushes) => {
        const to = { tenant: `tenant-${tenants++}` };
        const records = new Map<string, RecordCells>();
        for (const changes of pushes) {
          await api.push('relay', changes, to);
          for (const cell of changes.flatMap((one) => cellsOf(one as ChangeInput))) {
            const record = records.get(cell.pk) ?? new Map<string, Cell>();
            merge(record, cell);
            records.set(cell.pk, record);
          }
        }
        const stored = await server.db.sql<Cell[]>`
        select tbl as table, pk, field, kind, sub, hlc, value, inc, dec, removed from sync.cells where tenant_id = ${to.tenant}`;
        const expected = [...records.values()].flatMap((record) => [...record.values()]);
        expect(asMerged(stored).sort(byKey)).toEqual(expected.sort(byKey));
        for (const [pk, cells] of records) {
          if (cells.size === 0) continue;
          const view = recordState({ table: 'notes', pk }, [...cells.values()]);
          expect(await api.record(pk, 'notes', to)).toEqual(JSON.parse(JSON.stringify(view)));
        }
      }),
      { numRuns: 40, endOnFailure: true },
    );
  },
);
