import type { Scopes } from '../../../generated/keys/server.ts';
import type { Database } from '../../db/index.ts';
import type { Context } from '../../http/context.ts';
import { Conflict } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { keyStore } from './keys.store.ts';
import { checkMayTake } from './rights.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { byName, scopeStore } from './scopes.store.ts';
import type { Writer } from './writes.ts';

/** Maximum number of keys from which one deletion removes a scope. */
const mostHolders = 10_000;

/** Scopes: the registered names of what keys may do. */
export const scopes = ({ db, write }: { db: Database; write: Writer }) =>
  ({
    create: ({ body }, context) =>
      write(context, async ({ sql, emit }) => {
        const { tenant, app } = context;
        const scope = await scopeStore(sql).insert({
          ...body,
          id: newId('kscp'),
          tenant_id: tenant,
          app_id: app,
        });
        emit('keys.scope.created', scope.id, { name: scope.name });
        return scope;
      }),

    async list(request, { tenant, reply }) {
      const window = windowOf(request, byName);
      const found = await scopeStore(db.sql).list(tenant, window);
      return answerPage(reply, window, found);
    },

    get: ({ scopeId }, { tenant }) => scopeStore(db.sql).get(tenant, scopeId),

    delete: ({ scopeId }, context) =>
      write(context, async ({ sql, changed, emit }) => {
        const { tenant, app } = context;
        const { name } = await scopeStore(sql).delete(tenant, scopeId);
        const holders = await keyStore(sql).holders(tenant, name, mostHolders + 1);
        if (holders > 0) checkMayTake(context, [name], await keyStore(sql).otherAppOf(tenant, name, app));
        if (holders > mostHolders) throw Conflict(`scope is held by more than ${mostHolders} keys`);
        await keyStore(sql).dropScope(tenant, name);
        if (holders > 0) changed('tenant', tenant);
        emit('keys.scope.deleted', scopeId, { name, keys: holders });
      }),
  }) satisfies Scopes<Context>;
