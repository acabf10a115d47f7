/** Writes of tuples against plain inserts into a table with the same rows and indexes, one transaction each. */
import type { RelationCreate } from '../../generated/authz/types.ts';
import type { Database } from '../../src/db/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { withPlace } from '../place.ts';
import { atLeast, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { mean, paired } from '../statistics.ts';
import { seedTree, tree, treeCheck } from './data.ts';
import { asked, callOf, withService } from './service.ts';

const tenant = 'written';

export function writes(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    yield* await place.use(async (db) => {
      await seedTree(db, tree(tenant, sized(100_000, 2_000)));
      await db.maintenance(async (sql) => {
        await sql`create schema bench`;
        await sql`create table bench.relations (like authz.relations including all)`;
        await sql`insert into bench.relations select * from authz.relations`;
        await sql`analyze bench.relations`;
      });
      return withService(db, (handlers) => measure(db, handlers));
    });
  });
}

type Handlers = Parameters<Parameters<typeof withService>[1]>[0];

async function measure(db: Database, { Relations, Decisions }: Handlers): Promise<Row[]> {
  const call = callOf(tenant);
  // The model is in memory, as in a server that also decides.
  await Decisions.check(asked(treeCheck(tree(tenant, 100), 0, true)), call);
  const write = () => Relations.write({ body: { ...tuple(), on_duplicate: 'error' } }, call);
  const writeAll = (writes: RelationCreate[]) =>
    Relations.batch({ body: { writes, deletes: [], on_duplicate: 'error' } }, call);
  const rate = (calls: number, run: () => unknown) => async () => 1_000 / (await mean(calls, run));
  const some = sized(200, 10);
  const single = await paired(
    rate(some, write),
    rate(some, () => insert(db, [tuple()])),
  );
  const thousand = () => Array.from({ length: sized(1_000, 100) }, tuple);
  const many = await paired(
    rate(5, () => writeAll(thousand())),
    rate(5, () => insert(db, thousand())),
  );
  const measured = ({ a, b }: { a: number; b: number }) => `${round(a)}/s against ${round(b)}/s`;
  const baseline = 'plain insert, same indexes, one transaction';
  return [
    atLeast(single.ratio, 0.6, { path: 'write of a tuple', baseline, measured: measured(single) }),
    atLeast(many.ratio, 0.5, {
      path: 'batch of 1,000 tuples',
      baseline: `${baseline}, one statement`,
      measured: measured(many),
    }),
  ];
}

let written = 0;
const tuple = (): RelationCreate => ({
  object_type: 'document',
  object_id: `w${written++}`,
  relation: 'viewer',
  subject_type: 'user',
  subject_id: `u${(written * 7919) % 50_000}`,
  subject_relation: '',
  expires_at: null,
});

/** Sends the same columns as the service's own statement. */
function insert(db: Database, tuples: RelationCreate[]): Promise<unknown> {
  const column = (name: keyof RelationCreate) => tuples.map((each) => each[name]);
  const same = (text: string) => tuples.map(() => text);
  return db.transaction(
    (sql) => sql`
      insert into bench.relations (
        id, tenant_id, app_id, object_type, object_id, relation, subject_type, subject_id, subject_relation, expires_at,
        revision
      )
      select
        id, tenant_id, app_id, object_type, object_id, relation, subject_type, subject_id, subject_relation, expires_at, 1
      from unnest(
        ${tuples.map(() => newId('rel'))}::text[], ${same(tenant)}::text[], ${same('default')}::text[],
        ${column('object_type')}::text[], ${column('object_id')}::text[], ${column('relation')}::text[],
        ${column('subject_type')}::text[], ${column('subject_id')}::text[], ${column('subject_relation')}::text[],
        ${column('expires_at')}::timestamptz[]
      ) as given (
        id, tenant_id, app_id, object_type, object_id, relation, subject_type, subject_id, subject_relation, expires_at
      )
      returning id, created_at`,
  );
}
