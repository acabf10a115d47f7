/** Relations in process on 200,000 tuples: a check, a listing, and loading the model. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Database } from '../../src/db/index.ts';
import { type Place, withPlace } from '../place.ts';
import { atMost, atMostTimes, round, type Row } from '../row.ts';
import { scale, sized } from '../scale.ts';
import { latencies, median, paired, quantile, timed } from '../statistics.ts';
import { seedTree, tree, treeCheck, type Tree } from './data.ts';
import { asked, callOf, withService } from './service.ts';

const seeded = (measure: (db: Database, tree: Tree, place: Place) => Promise<Row[]>): AsyncIterable<Row> =>
  withPlace(async function* (place) {
    const data = tree('tree', sized(100_000, 2_000));
    yield* await place.use(async (db) => {
      await seedTree(db, data);
      return measure(db, data, place);
    });
  });

const factsOf = ({ documents, folders, groups, members }: Tree) =>
  documents + folders + groups * members + 20;

export function rebac(): AsyncIterable<Row> {
  return seeded((db, data) =>
    withService(db, async ({ Decisions }) => {
      const call = callOf(data.tenant);
      const requests = Array.from({ length: 20_000 }, (_, turn) =>
        asked(treeCheck(data, turn, turn % 4 !== 0)),
      );
      const verdicts = await Promise.all(
        requests.slice(0, 40).map((request) => Decisions.check(request, call)),
      );
      const wrong = verdicts.findIndex(({ allowed }, turn) => allowed !== (turn % 4 !== 0));
      if (wrong >= 0) throw new Error(`wrong decision about ${JSON.stringify(requests[wrong])}`);
      const times = await latencies(sized(100_000, 5_000), (turn) =>
        Decisions.check(requests[turn % requests.length]!, call),
      );
      return [
        atMost(quantile(times, 0.5) * 1_000, 10, {
          path: `check in process, 3 hops, ${round(factsOf(data))} tuples, p50`,
          unit: 'µs',
          measured: `p99 ${round(quantile(times, 0.99) * 1_000)} µs`,
        }),
      ];
    }),
  );
}

export function listing(): AsyncIterable<Row> {
  return seeded((db, data) =>
    withService(db, async ({ Decisions }) => {
      const question = {
        ...asked({ ...treeCheck(data, 0, true), subject_id: 'lister' }).body,
        cursor: '',
        limit: 1_000,
      };
      const { resource_id: _, ...body } = question;
      const list = async () => {
        const { resource_ids, complete } = await Decisions.listObjects({ body }, callOf(data.tenant));
        if (!complete || resource_ids.length !== 1_000)
          throw new Error(`${resource_ids.length} objects, complete: ${complete}`);
      };
      const times = await latencies(sized(20, 3), list);
      const path = `list-objects, 1,000 of ${round(data.documents)} known`;
      return [
        atMost(median(times), 100, { path, unit: 'ms', measured: `p99 ${round(quantile(times, 0.99))} ms` }),
      ];
    }),
  );
}

export function modelLoad(): AsyncIterable<Row> {
  return seeded(async (db, data) => {
    const call = callOf(data.tenant);
    const request = asked(treeCheck(data, 0, true));
    const pauses = monitorEventLoopDelay({ resolution: 1 });
    const load = () =>
      withService(db, async ({ Decisions }) => {
        pauses.reset();
        pauses.enable();
        const time = await timed(() => Decisions.check(request, call));
        pauses.disable();
        return time;
      });
    const { ratio, a, b } = await paired(load, () => timed(() => readRows(db, data.tenant)));
    const path = `model load, ${round(factsOf(data))} facts`;
    return [
      atMostTimes(ratio, 2.5, {
        path,
        baseline: 'the same rows read into arrays',
        measured: `${round(a)} ms against ${round(b)} ms; longest pause of the event loop ${round(pauses.max / 1e6)} ms`,
      }),
      atMost(a, 2_000 * scale, { path, unit: 'ms' }),
    ];
  });
}

/** Reads the rows that a load reads. */
function readRows(db: Database, tenant: string): Promise<unknown[]> {
  return db.transaction((sql) =>
    Promise.all([
      sql`select id, name, relations, permissions from authz.resource_types where tenant_id = ${tenant}`,
      sql`
        select id, object_type, object_id, relation, subject_type, subject_id, subject_relation, expires_at
        from authz.relations
        where tenant_id = ${tenant}`,
      sql`
        select id, role_id, subject_kind, subject_id, resource_type, resource_id, expires_at
        from authz.assignments
        where tenant_id = ${tenant}`,
    ]),
  );
}
