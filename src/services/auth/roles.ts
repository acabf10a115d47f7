import type { Role, RoleUpdate } from '../../../generated/auth/types.ts';
import type { Roles } from '../../../generated/auth/server.ts';
import type { Context } from '../../http/context.ts';
import { answerPage, newestFirst, placeOf } from '../../http/lists.ts';
import { Conflict, Invalid } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { appOfCaller, authorOf } from './app-context.ts';
import { appStore } from './apps.store.ts';
import { assignmentStore } from './assignments.store.ts';
import type { Deps } from './deps.ts';
import { checkFixed } from './fixed.ts';
import { checkMayGive, scopeOf } from './guarded-scopes.ts';
import { inheritedScopes } from './inheritance.ts';
import { cleanLabel } from './labels.ts';
import { checkChain } from './role-chains.ts';
import { roleStore } from './roles.store.ts';
import { cleanText } from './text-rules.ts';
import { userStore } from './users.store.ts';
import type { Write } from './writes.ts';

/** Permissions of one role. */
const mostPermissions = 200;

/** Roles: sets of permissions, which may inherit from one another, and who holds them. */
export const roles = ({ db, directory, write }: Deps) =>
  ({
    async create({ body: { app_id, ...body } }, context) {
      const app = await appOfCaller(directory, context, app_id);
      const role = {
        ...body,
        name: cleanLabel('name', body.name),
        description: cleanText('description', body.description),
      };
      return write(authorOf(context, app), async (tx) => {
        const id = newId('arole');
        if (role.parent_id !== null) await checkParent(tx, context, id, role.parent_id);
        const created = await roleStore(tx.sql).insert({ ...role, id, tenant_id: tx.tenant, app_id: tx.app });
        tx.emit('auth.role.created', id, { role_id: id, slug: created.slug });
        return created;
      });
    },

    async list({ app_id, ...request }, context) {
      const app = await appOfCaller(directory, context, app_id);
      const found = await roleStore(db.sql).list(app.tenant, app.id, newestFirst(request));
      return { roles: answerPage(context.reply, found, request.limit, placeOf) };
    },

    async get({ roleId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return roleStore(db.sql).get(app.tenant, app.id, roleId);
    },

    async update({ roleId, body }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), (tx) => changeRole(tx, context, roleId, body));
    },

    async delete({ roleId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), (tx) => deleteRole(tx, roleId));
    },

    async addPermission({ roleId, body }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        const store = roleStore(tx.sql);
        await store.lock(tx.tenant, tx.app, roleId);
        const scope = scopeOf(body);
        checkMayGive(context, [scope]);
        const permission = await store.insertPermission({
          ...body,
          id: newId('aperm'),
          tenant_id: tx.tenant,
          role_id: roleId,
        });
        if ((await store.countPermissions(tx.tenant, roleId)) > mostPermissions)
          throw Conflict(`a role has at most ${mostPermissions} permissions`);
        tx.emit('auth.role.updated', roleId, { role_id: roleId, fields: ['permissions'], added: scope });
        return permission;
      });
    },

    async listPermissions({ roleId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      const store = roleStore(db.sql);
      await store.get(app.tenant, app.id, roleId);
      return { permissions: await store.permissions(app.tenant, roleId) };
    },

    async removePermission({ roleId, permissionId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        const store = roleStore(tx.sql);
        await store.lock(tx.tenant, tx.app, roleId);
        const { scope } = await store.deletePermission(tx.tenant, roleId, permissionId);
        lose(tx, [scope]);
        tx.emit('auth.role.updated', roleId, { role_id: roleId, fields: ['permissions'], removed: scope });
        return { status: 'removed' as const };
      });
    },

    async assign({ roleId, body: { user_id, org_id } }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        const store = roleStore(tx.sql);
        await store.lock(tx.tenant, tx.app, roleId);
        await userStore(tx.sql).hold(tx.tenant, tx.app, user_id);
        if (org_id !== null) await assignmentStore(tx.sql).holdOrganization(tx.tenant, tx.app, org_id);
        checkMayGive(context, await inheritedScopes(tx, roleId));
        const assigned = await assignmentStore(tx.sql).insert({
          tenant_id: tx.tenant,
          user_id,
          role_id: roleId,
          org_id,
        });
        if (assigned) {
          tx.changed('user', user_id, 'forget');
          tx.emit('auth.role.assigned', roleId, { user_id, role_id: roleId, org_id });
        }
        return { status: 'assigned' as const };
      });
    },

    async unassign({ roleId, body: { user_id, org_id } }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        await roleStore(tx.sql).lock(tx.tenant, tx.app, roleId);
        await userStore(tx.sql).get(tx.tenant, tx.app, user_id);
        const lost = await assignmentStore(tx.sql).delete(tx.tenant, user_id, roleId, org_id);
        if (lost.length > 0) tx.changed('user', user_id);
        for (const assignment of lost)
          tx.emit('auth.role.unassigned', roleId, { user_id, role_id: roleId, org_id: assignment.org_id });
        return { status: 'unassigned' as const };
      });
    },
  }) satisfies Roles<Context>;

async function changeRole(
  tx: Write,
  context: Context,
  id: string,
  { app_id, slug, ...body }: RoleUpdate,
): Promise<Role> {
  const store = roleStore(tx.sql);
  if (body.parent_id !== undefined) await appStore(tx.sql).lock(tx.tenant, tx.app);
  const role = await store.lock(tx.tenant, tx.app, id);
  checkFixed('app_id', app_id, role.app_id);
  checkFixed('slug', slug, role.slug);
  const next = {
    ...role,
    ...(body.name === undefined ? {} : { name: cleanLabel('name', body.name) }),
    ...(body.description === undefined ? {} : { description: cleanText('description', body.description) }),
    ...(body.parent_id === undefined ? {} : { parent_id: body.parent_id }),
  };
  const fields = (['name', 'description', 'parent_id'] as const).filter((name) => next[name] !== role[name]);
  if (fields.length === 0) return role;
  if (role.system) throw Conflict('system role');
  if (next.parent_id !== role.parent_id) {
    if (role.parent_id !== null) lose(tx, await inheritedScopes(tx, role.parent_id));
    if (next.parent_id !== null) await checkParent(tx, context, id, next.parent_id);
  }
  const updated = await store.update(tx.tenant, next);
  tx.emit('auth.role.updated', id, { role_id: id, fields });
  return updated;
}

async function deleteRole(tx: Write, id: string) {
  const store = roleStore(tx.sql);
  const app = await appStore(tx.sql).lock(tx.tenant, tx.app);
  const role = await store.lock(tx.tenant, tx.app, id);
  if (role.system) throw Conflict('system role');
  if (app.settings.default_role === role.slug) throw Conflict('role is the default role of the app');
  lose(tx, await inheritedScopes(tx, id));
  await store.delete(tx.tenant, tx.app, id);
  tx.emit('auth.role.deleted', id, { role_id: id, slug: role.slug });
  return { status: 'deleted' as const };
}

/**
 * The parent exists, what is inherited from it the caller may give, and there is neither a cycle nor too long a chain. Who
 * inherits from whom is changed by one at a time in an app: two that each are right can be a cycle together.
 */
async function checkParent(tx: Write, context: Context, id: string, parentId: string): Promise<void> {
  const store = roleStore(tx.sql);
  await appStore(tx.sql).lock(tx.tenant, tx.app);
  const chain = await store.chain(tx.tenant, tx.app, parentId);
  if (chain.length === 0) throw Invalid('parent_id: no such role');
  checkChain(id, chain, await store.height(tx.tenant, tx.app, id));
  checkMayGive(context, await store.scopes(tx.tenant, chain));
}

/** Notes that holders of these scopes may hold them no longer. */
function lose({ app, changed }: Write, scopes: readonly string[]): void {
  for (const scope of scopes) changed('scope', `${app} ${scope}`);
}
