import type { Roles } from '../../../generated/authz/server.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, windowOf } from '../../http/lists.ts';
import { Conflict, Forbidden } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { checkShownText } from '../../lib/shown-text.ts';
import { checkAttributes } from './attributes.ts';
import type { Deps } from './deps.ts';
import { checkRoleParent } from './engine/roles.ts';
import { LimitReached } from './errors.ts';
import { checkLimit, mostPermissionsPerRole } from './limits.ts';
import { newestIdFirst } from './lists.ts';
import { permissionStore } from './permissions.store.ts';
import { changed, checkFixed, stamp } from './records.ts';
import { slugOf } from './role-slug.ts';
import { roleStore } from './roles.store.ts';
import type { Write } from './writes.ts';

/** Roles: named sets of permissions, which may inherit from one another. */
export const roles = ({ db, write }: Deps) =>
  ({
    async create({ body }, context) {
      checkShownText('name', body.name);
      checkAttributes(body.metadata, 'metadata');
      if (body.is_system) checkAdmin(context);
      return write(context, async (tx) => {
        checkLimit('roles', tx.before.roles);
        const id = newId('role');
        if (body.parent_id !== null) await checkParent(tx, id, body.parent_id);
        const slug = body.slug ?? slugOf(body.name, id);
        const role = await roleStore(tx.sql).insert({ ...body, ...stamp(tx), id, slug });
        tx.count('roles', 1);
        tx.change('role', 'put', [role]);
        tx.emit('authz.role.created', id, role);
        return role;
      });
    },

    async list({ search, ...request }, context) {
      const window = windowOf(request, newestIdFirst);
      const found = await roleStore(db.sql).list(context.tenant, { search }, window);
      return answerPage(context.reply, window, found);
    },

    get: ({ roleId }, context) => roleStore(db.sql).get(context.tenant, roleId),

    async update({ roleId, body }, context) {
      checkShownText('name', body.name);
      if (body.metadata) checkAttributes(body.metadata, 'metadata');
      return write(context, async (tx) => {
        const store = roleStore(tx.sql);
        const current = await store.get(tx.tenant, roleId);
        if (current.is_system || body.is_system) checkAdmin(context);
        checkFixed('slug', body.slug, current.slug);
        const next = changed(current, body);
        if (!next) return current;
        if (next.parent_id !== null && next.parent_id !== current.parent_id)
          await checkParent(tx, roleId, next.parent_id);
        const role = await store.update({ ...next, ...stamp(tx) });
        tx.change('role', 'put', [role]);
        tx.emit('authz.role.updated', roleId, role);
        return role;
      });
    },

    delete: ({ roleId }, context) =>
      write(context, async (tx) => {
        const store = roleStore(tx.sql);
        const role = await store.get(tx.tenant, roleId);
        if (role.is_system) checkAdmin(context);
        if (await store.isParent(tx.tenant, roleId)) throw Conflict('role is the parent of other roles');
        await store.delete(tx.tenant, roleId);
        tx.count('roles', -1);
        tx.change('role', 'del', [{ id: roleId }]);
        tx.emit('authz.role.deleted', roleId, role);
      }),

    attachPermission: ({ roleId, body: { permission_id } }, context) =>
      write(context, async (tx) => {
        const store = roleStore(tx.sql);
        const role = await store.get(tx.tenant, roleId);
        if (role.is_system) checkAdmin(context);
        const permission = await permissionStore(tx.sql).get(tx.tenant, permission_id);
        await store.attach(tx.tenant, roleId, permission_id, tx.revision);
        const count = await store.countPermissions(tx.tenant, roleId);
        if (count > mostPermissionsPerRole) throw LimitReached(mostPermissionsPerRole, 'permissions');
        tx.change('role_permission', 'put', [{ role_id: roleId, permission_id }]);
        tx.emit('authz.permission.attached', permission_id, { role_id: roleId, permission_id });
        return permission;
      }),

    async listPermissions({ roleId, inherited, ...request }, context) {
      const store = roleStore(db.sql);
      const window = windowOf(request, newestIdFirst);
      await store.get(context.tenant, roleId);
      const found = await store.listPermissions(context.tenant, roleId, { inherited }, window);
      return answerPage(context.reply, window, found);
    },

    detachPermission: ({ roleId, permissionId }, context) =>
      write(context, async (tx) => {
        const store = roleStore(tx.sql);
        const role = await store.get(tx.tenant, roleId);
        if (role.is_system) checkAdmin(context);
        await store.detach(tx.tenant, roleId, permissionId);
        tx.change('role_permission', 'del', [{ role_id: roleId, permission_id: permissionId }]);
        tx.emit('authz.permission.detached', permissionId, { role_id: roleId, permission_id: permissionId });
      }),
  }) satisfies Roles<Context>;

function checkAdmin(context: Context): void {
  if (!context.holds('authz:admin')) throw Forbidden('system role');
}

/** Checks that the parent exists and that inheriting from it creates neither a cycle nor too long a chain. */
async function checkParent({ sql, tenant }: Write, id: string, parentId: string): Promise<void> {
  const store = roleStore(sql);
  await store.get(tenant, parentId);
  checkRoleParent(await store.parents(tenant), id, parentId);
}
