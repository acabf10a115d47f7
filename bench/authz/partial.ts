/** Checks of a tenant that is too large for memory: each reads the slices it needs, with one statement per level. */
import type { Check } from '../../generated/authz/types.ts';
import type { Database } from '../../src/db/index.ts';
import { withPlace } from '../place.ts';
import { atMost, atMostTimes, forOrientation, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { mean, paired, type Paired } from '../statistics.ts';
import { seedTree, tree, treeCheck, type Tree } from './data.ts';
import { asked, callOf, withService } from './service.ts';

export function partial(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const data = tree('large', sized(100_000, 5_000));
    yield* await place.use(async (db) => {
      await seedTree(db, data);
      const counting = countingStatements(db);
      const env = { PLINTH_AUTHZ_PRELOAD_FACTS: '0' };
      return withService(counting.db, ({ Decisions }) => measure(db, counting, data, Decisions), env);
    });
  });
}

type DecisionHandlers = Parameters<Parameters<typeof withService>[1]>[0]['Decisions'];

async function measure(
  db: Database,
  { count }: { count: () => number },
  data: Tree,
  decisions: DecisionHandlers,
): Promise<Row[]> {
  const call = callOf(data.tenant);
  let next = 0;
  // No document is asked about twice, so every check reads its first levels from the database.
  const cold = () => treeCheck(data, next++, true);
  const hundred = () => Array.from({ length: 100 }, cold);
  const askHundred = () => decisions.batchCheck({ body: { checks: hundred(), fresh: false } }, call);
  const single = await paired(
    () => mean(sized(300, 30), () => decisions.check(asked(cold()), call)),
    () => mean(sized(300, 30), () => selectEachLevel(db, data, [cold()])),
  );
  const many = await paired(
    () => mean(sized(40, 4), askHundred),
    () => mean(sized(40, 4), () => selectEachLevel(db, data, hundred())),
  );
  const statements: number[] = [];
  for (let n = 0; n < 5; n++) {
    const before = count();
    await askHundred();
    statements.push(count() - before);
  }
  const told = ({ a, b }: Paired) => `${round(a)} ms against ${round(b)} ms`;
  const path = 'partial mode, cold batch of 100, 3 levels';
  return [
    atMostTimes(single.ratio, 1.5, {
      path: 'partial mode, cold check, 3 levels',
      baseline: '3 selects by primary key',
      measured: told(single),
    }),
    // A poll may add a statement.
    atMost(Math.min(...statements), 3, { path, unit: 'statements' }),
    forOrientation(many.ratio, { path, baseline: '3 selects of 100 primary keys', measured: told(many) }),
  ];
}

/** Returns a database that counts the awaited statements. Fragments of statements do not count. */
function countingStatements(db: Database): { db: Database; count: () => number } {
  // A statement adds handlers to itself when it runs, so it is counted once, however often it is awaited.
  const awaited = new Set<unknown>();
  const sql = new Proxy(db.sql, {
    apply(target, self, given: unknown[]) {
      const query: unknown = Reflect.apply(target, self, given);
      if (!(query instanceof Promise)) return query;
      const then = query.then.bind(query);
      query.then = (...handlers) => {
        awaited.add(query);
        return then(...handlers);
      };
      return query;
    },
  });
  return { db: { ...db, sql }, count: () => awaited.size };
}

/** Runs one select by primary key per level for all checks: document to folder, folder to group, group to user. */
async function selectEachLevel(
  { sql }: Database,
  { tenant, folders, groups }: Tree,
  checks: Check[],
): Promise<void> {
  const documents = checks.map(({ resource_id }) => resource_id);
  const folderNumbers = documents.map((id) => Number(id.slice(1)) % folders);
  const groupNumbers = folderNumbers.map((folder) => folder % groups);
  const folderIds = folderNumbers.map((n) => `f${n}`);
  const groupIds = groupNumbers.map((n) => `g${n}`);
  const users = checks.map(({ subject_id }) => subject_id);
  const none = checks.map(() => '');
  const members = checks.map(() => 'member');
  const steps = [
    ['document', 'parent', documents, 'folder', folderIds, none],
    ['folder', 'viewer', folderIds, 'group', groupIds, members],
    ['group', 'member', groupIds, 'user', users, none],
  ] as const;
  for (const [type, relation, ids, subjectType, subjectIds, relations] of steps) {
    const rows = await sql`
      select f.id, f.object_id, f.subject_id, f.subject_relation, f.expires_at
      from unnest(${ids}::text[], ${subjectIds}::text[], ${relations}::text[]) as k (object_id, subject_id, relation)
      join authz.relations f
        on f.tenant_id = ${tenant} and f.object_type = ${type} and f.relation = ${relation} and f.object_id = k.object_id
          and f.subject_type = ${subjectType} and f.subject_id = k.subject_id and f.subject_relation = k.relation`;
    if (rows.length !== checks.length)
      throw new Error(`${rows.length} of ${checks.length} rows of ${type} found`);
  }
}
