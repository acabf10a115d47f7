import type { Relations } from '../../../generated/authz/server.ts';
import type {
  Relation,
  RelationCreate,
  RelationKey,
  RelationPurge,
  ResourceType,
} from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';
import type { Context } from '../../http/context.ts';
import { Conflict, Invalid } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Deps } from './deps.ts';
import type { TupleFact } from './engine/types.ts';
import { checkFuture, stamp } from './records.ts';
import { listRelations } from './relation-lists.ts';
import { type Deleted, type PurgeFilter, relationStore, type StoredTuple } from './relations.store.ts';
import { resourceTypeStore } from './resource-types.store.ts';
import { checkAgainstType, checkDistinct, checkKey, keyOf } from './tuple-rules.ts';
import type { Write } from './writes.ts';

/** Maximum number of tuples that one purge removes. */
const mostPurged = 10_000;
/** Maximum number of keys per event. */
const mostKeysPerEvent = 2_000;

/** Relations: tuples that relate subjects to objects. */
export const relations = ({ db, write, perform }: Deps) =>
  ({
    async write({ body: { on_duplicate, ...given } }, context) {
      checkKey(given);
      const fact = newFact(given);
      return write(
        context,
        async (tx, sent: Inserted) => {
          if (inserted(tx, [fact], sent).length === 0) {
            const twin = await relationStore(tx.sql).find(tx.tenant, given);
            if (on_duplicate === 'error' || !twin) throw duplicate();
            context.reply.status(200);
            return twin;
          }
          const { created_at } = sent.stored[0]!;
          const relation: Relation = { ...fact, ...stamp(tx), created_at };
          tx.emit('authz.relation.written', relation.id, relation);
          context.reply.status(201);
          return relation;
        },
        (sql) => insert(sql, context, [fact]),
      );
    },

    async delete({ body }, context) {
      checkKey(body);
      return write(
        context,
        async (tx, rows: readonly Deleted[]) => {
          const [gone] = removed(tx, rows);
          if (gone) tx.emit('authz.relation.deleted', gone.id, gone);
        },
        (sql) => relationStore(sql).delete(context.tenant, [body]),
      );
    },

    list: (request, context) => listRelations(db.sql, request, context),

    async batch({ body: { writes, deletes, on_duplicate } }, context) {
      if (writes.length + deletes.length === 0)
        throw Invalid('writes: at least one write or delete is required');
      writes.forEach((key, n) => checkKey(key, `writes[${n}].`));
      deletes.forEach((key, n) => checkKey(key, `deletes[${n}].`));
      checkDistinct([
        ...writes.map((key, n) => ({ key, at: `writes[${n}]` })),
        ...deletes.map((key, n) => ({ key, at: `deletes[${n}]` })),
      ]);
      const facts = writes.map(newFact);
      const { result, revision } = await perform(
        context,
        async (tx, [rows, sent]: [readonly Deleted[], Inserted]) => {
          const gone = removed(tx, rows);
          const stored = inserted(tx, facts, sent, (n) => `writes[${n}].`);
          if (on_duplicate === 'error' && stored.length < facts.length) throw duplicate();
          emitChanged(tx, stored, gone);
          return { written: stored.length, deleted: gone.length };
        },
        (sql) =>
          Promise.all([
            deletes.length > 0 ? relationStore(sql).delete(context.tenant, deletes) : [],
            insert(sql, context, facts),
          ]),
      );
      return { ...result, revision };
    },

    async purge({ body }, context) {
      const filter = purgeFilter(body);
      const { result, revision } = await perform(context, async (tx) => {
        const gone = await relationStore(tx.sql).purge(tx.tenant, filter, mostPurged);
        tx.count('tuples', -gone.length);
        tx.change('relation', 'del', gone);
        emitChanged(tx, [], gone);
        return { deleted: gone.length, complete: gone.length < mostPurged };
      });
      return { ...result, revision };
    },
  }) satisfies Relations<Context>;

interface Inserted {
  readonly types: readonly Pick<ResourceType, 'name' | 'relations'>[];
  readonly stored: readonly StoredTuple[];
}

const newFact = (given: RelationCreate): TupleFact => ({
  ...keyOf(given),
  id: newId('rel'),
  expires_at: given.expires_at,
});

/** Stores the tuples that do not exist yet, and fetches the types needed to check them. */
async function insert(sql: Sql, { tenant, app }: Context, facts: readonly TupleFact[]): Promise<Inserted> {
  if (facts.length === 0) return { types: [], stored: [] };
  const names = new Set(facts.map(({ object_type }) => object_type));
  const [types, stored] = await Promise.all([
    resourceTypeStore(sql).named(tenant, [...names]),
    relationStore(sql).insert(tenant, app, facts),
  ]);
  return { types, stored };
}

/** Checks tuples that were sent, and records those that were stored. */
function inserted(
  tx: Write,
  facts: readonly TupleFact[],
  { types, stored }: Inserted,
  at = (_: number) => '',
): readonly TupleFact[] {
  facts.forEach((fact, n) => {
    checkAgainstType(fact, types, at(n));
    checkFuture(fact.expires_at, tx.before.now, `${at(n)}expires_at`);
  });
  const ids = new Set(stored.map(({ id }) => id));
  const added = facts.filter(({ id }) => ids.has(id));
  tx.count('tuples', stored.filter(({ replaced }) => !replaced).length);
  tx.change('relation', 'put', added);
  return added;
}

/** Records deleted tuples. Expired tuples count as absent, but their rows are deleted too. */
function removed(tx: Write, rows: readonly Deleted[]): Relation[] {
  const relations = rows.filter(({ live }) => live).map(({ live: _, ...relation }) => relation);
  tx.count('tuples', -rows.length);
  tx.change('relation', 'del', relations.map(keyOf));
  return relations;
}

/** Emits one event for many tuples, or several events when there are too many for one. */
function emitChanged(tx: Write, written: readonly RelationKey[], deleted: readonly RelationKey[]): void {
  const all = [
    ...written.map((key) => ({ key, written: true })),
    ...deleted.map((key) => ({ key, written: false })),
  ];
  for (let from = 0; from < all.length; from += mostKeysPerEvent) {
    const some = all.slice(from, from + mostKeysPerEvent);
    const keys = (which: boolean) =>
      some.flatMap(({ key, written }) => (written === which ? [keyOf(key)] : []));
    tx.emit('authz.relations.changed', tx.tenant, { written: keys(true), deleted: keys(false) });
  }
}

function purgeFilter({
  object_type,
  object_id,
  subject_type,
  subject_id,
  relation,
}: RelationPurge): PurgeFilter {
  const byObject = object_type !== undefined && object_id !== undefined;
  const bySubject = subject_type !== undefined && subject_id !== undefined;
  const given = [object_type, object_id, subject_type, subject_id].filter((value) => value !== undefined);
  if (given.length === 2 && byObject) return { object_type, object_id, relation };
  if (given.length === 2 && bySubject) return { subject_type, subject_id, relation };
  throw Invalid('object_id: either object_type and object_id or subject_type and subject_id are required');
}

const duplicate = () => Conflict('relation already exists');
