import type { ResourceTypes } from '../../../generated/authz/server.ts';
import type { ResourceType } from '../../../generated/authz/types.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { Conflict } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Deps } from './deps.ts';
import { checkLimit, checkTotal } from './limits.ts';
import { newestIdFirst } from './lists.ts';
import { changed, checkFixed, stamp } from './records.ts';
import { relationStore } from './relations.store.ts';
import { resourceTypeStore } from './resource-types.store.ts';
import { judged, type Judged, TypeVersions } from './type-versions.ts';
import type { Write } from './writes.ts';

/** Resource types: what relations mean, and which permissions they give. */
export const resourceTypes = ({ db, models, write }: Deps) => {
  const versions = new TypeVersions(models.turns);
  return {
    async create({ body }, context) {
      const before = await versions.judge(db.sql, context.tenant, body);
      return write(context, async (tx) => {
        checkLimit('types', tx.before.types);
        const given = { ...body, ...stamp(tx), id: newId('rtype') };
        const bytes = await checkAgainstOthers(tx, given, before);
        const type = await resourceTypeStore(tx.sql).insert(given, bytes);
        tx.count('types', 1);
        tx.change('resource_type', 'put', [type]);
        tx.emit('authz.resource_type.created', type.id, type);
        return type;
      });
    },

    async list(request, context) {
      const window = windowOf(request, newestIdFirst);
      const found = await resourceTypeStore(db.sql).list(context.tenant, window);
      return answerPage(context.reply, window, found);
    },

    get: ({ resourceTypeId }, context) => resourceTypeStore(db.sql).get(context.tenant, resourceTypeId),

    async update({ resourceTypeId, body }, context) {
      const found = await resourceTypeStore(db.sql).get(context.tenant, resourceTypeId);
      checkFixed('name', body.name, found.name);
      const before = await versions.judge(db.sql, context.tenant, { ...found, ...body });
      return write(context, async (tx) => {
        const store = resourceTypeStore(tx.sql);
        const current = await store.get(tx.tenant, resourceTypeId);
        const next = changed(current, body);
        if (!next) return current;
        // If the type itself was changed in between, the checked version is not the stored one.
        const bytes = await checkAgainstOthers(tx, next, current.revision === found.revision ? before : '-');
        await checkUnused(tx, current.name, removedRelations(current, next));
        const type = await store.update({ ...next, ...stamp(tx) }, bytes);
        tx.change('resource_type', 'put', [type]);
        tx.emit('authz.resource_type.updated', resourceTypeId, type);
        return type;
      });
    },

    delete: ({ resourceTypeId }, context) =>
      write(context, async (tx) => {
        const store = resourceTypeStore(tx.sql);
        const type = await store.get(tx.tenant, resourceTypeId);
        await checkUnused(tx, type.name);
        await store.delete(tx.tenant, resourceTypeId);
        tx.count('types', -1);
        tx.change('resource_type', 'del', [{ id: resourceTypeId }]);
        tx.emit('authz.resource_type.deleted', resourceTypeId, type);
      }),
  } satisfies ResourceTypes<Context>;

  /** Checks that the type's expressions are sound together with the tenant's current types. Returns the type's size in bytes. */
  async function checkAgainstOthers(
    { sql, tenant }: Write,
    type: Pick<ResourceType, 'name' | 'relations' | 'permissions'>,
    before: Judged,
  ): Promise<number> {
    const all = await resourceTypeStore(sql).versions(tenant);
    const others = all.filter(({ name }) => name !== type.name);
    const bytes = Buffer.byteLength(JSON.stringify([type.relations, type.permissions]));
    const own = all.find(({ name }) => name === type.name)?.bytes ?? 0;
    checkTotal(
      'typeBytes',
      others.reduce((sum, other) => sum + other.bytes, 0),
      bytes,
      own,
    );
    if (judged(others) !== before) await versions.judge(sql, tenant, type);
    return bytes;
  }
};

/** Checks that no tuples outlive the declaration that gives them their meaning. Without `relations`, checks the whole type. */
async function checkUnused(
  { sql, tenant }: Write,
  type: string,
  relations?: readonly string[],
): Promise<void> {
  const used = await relationStore(sql).findUsed(tenant, type, relations);
  if (used !== undefined) throw Conflict(`relation "${used}" still has tuples`);
}

function removedRelations(current: ResourceType, next: ResourceType): string[] {
  const kept = new Set(next.relations.map(({ name }) => name));
  return current.relations.map(({ name }) => name).filter((name) => !kept.has(name));
}
