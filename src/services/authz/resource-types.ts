import type { ResourceTypes } from '../../../generated/authz/server.ts';
import type { ResourceType } from '../../../generated/authz/types.ts';
import type { Context } from '../../http/context.ts';
import { Conflict } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Deps } from './deps.ts';
import { checkResourceType } from './engine/type-graph.ts';
import type { ResourceTypeRule } from './engine/types.ts';
import { checkLimit } from './errors.ts';
import { answerPage, idWindow } from './lists.ts';
import { changed, checkFixed, stamp } from './records.ts';
import { relationStore } from './relations.store.ts';
import { resourceTypeStore } from './resource-types.store.ts';
import type { Write } from './writes.ts';

/** Resource types: what relations mean, and how they give permissions. */
export const resourceTypes = ({ db, write }: Deps) =>
  ({
    create: ({ body }, context) =>
      write(context, async (tx) => {
        checkLimit('types', tx.before.types);
        const given = { ...body, ...stamp(tx), id: newId('rtype') };
        await checkAgainstOthers(tx, given);
        const type = await resourceTypeStore(tx.sql).insert(given);
        tx.count('types', 1);
        tx.change('resource_type', 'put', [type]);
        tx.emit('resource_type.created', type.id, type);
        return type;
      }),

    async list(request, context) {
      const found = await resourceTypeStore(db.sql).list(context.tenant, idWindow(request));
      return answerPage(context, found, request.limit);
    },

    get: ({ resourceTypeId }, context) => resourceTypeStore(db.sql).get(context.tenant, resourceTypeId),

    update: ({ resourceTypeId, body }, context) =>
      write(context, async (tx) => {
        const store = resourceTypeStore(tx.sql);
        const current = await store.get(tx.tenant, resourceTypeId);
        checkFixed('name', body.name, current.name);
        const next = changed(current, body);
        if (!next) return current;
        await checkAgainstOthers(tx, next);
        await checkUnused(tx, current.name, removedRelations(current, next));
        const type = await store.update({ ...next, ...stamp(tx) });
        tx.change('resource_type', 'put', [type]);
        tx.emit('resource_type.updated', resourceTypeId, type);
        return type;
      }),

    delete: ({ resourceTypeId }, context) =>
      write(context, async (tx) => {
        const store = resourceTypeStore(tx.sql);
        const type = await store.get(tx.tenant, resourceTypeId);
        await checkUnused(tx, type.name);
        await store.delete(tx.tenant, resourceTypeId);
        tx.count('types', -1);
        tx.change('resource_type', 'del', [{ id: resourceTypeId }]);
        tx.emit('resource_type.deleted', resourceTypeId, type);
      }),
  }) satisfies ResourceTypes<Context>;

/** Its expressions are sound by themselves and together with the other types of the tenant. */
async function checkAgainstOthers({ sql, tenant }: Write, type: ResourceTypeRule): Promise<void> {
  const types = await resourceTypeStore(sql).rules(tenant);
  checkResourceType(
    type,
    types.filter(({ name }) => name !== type.name),
  );
}

/** Tuples must not outlive the declaration that gives them their meaning. Without `relations`: those of the whole type. */
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
