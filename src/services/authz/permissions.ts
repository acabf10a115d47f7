import type { Permissions } from '../../../generated/authz/server.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { newId } from '../../lib/ids.ts';
import { checkShownText } from '../../lib/shown-text.ts';
import type { Deps } from './deps.ts';
import { checkLimit } from './limits.ts';
import { newestIdFirst } from './lists.ts';
import { permissionStore } from './permissions.store.ts';
import { stamp } from './records.ts';

/** Permissions: what roles allow. */
export const permissions = ({ db, write }: Deps) =>
  ({
    async create({ body }, context) {
      checkShownText('name', body.name);
      return write(context, async (tx) => {
        checkLimit('permissions', tx.before.permissions);
        const id = newId('perm');
        const name = body.name ?? `${body.resource}:${body.action}`.slice(0, 128);
        const permission = await permissionStore(tx.sql).insert({ ...body, ...stamp(tx), id, name });
        tx.count('permissions', 1);
        tx.change('permission', 'put', [permission]);
        tx.emit('authz.permission.created', id, permission);
        return permission;
      });
    },

    async list({ resource, action, search, ...request }, context) {
      const window = windowOf(request, newestIdFirst);
      const filter = { resource, action, search };
      const found = await permissionStore(db.sql).list(context.tenant, filter, window);
      return answerPage(context.reply, window, found);
    },

    get: ({ permissionId }, context) => permissionStore(db.sql).get(context.tenant, permissionId),

    delete: ({ permissionId }, context) =>
      write(context, async (tx) => {
        const store = permissionStore(tx.sql);
        const permission = await store.get(tx.tenant, permissionId);
        await store.delete(tx.tenant, permissionId);
        tx.count('permissions', -1);
        tx.change('permission', 'del', [{ id: permissionId }]);
        tx.emit('authz.permission.deleted', permissionId, permission);
      }),
  }) satisfies Permissions<Context>;
