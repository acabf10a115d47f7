import type { Role, RoleUpdate } from '../../../../generated/auth/types.ts';
import type { Roles } from '../../../../generated/auth/server.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { Conflict, Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { appOfCaller, authorOf } from '../directory/app-context.ts';
import { appStore } from '../directory/apps.store.ts';
import { assignmentStore } from './assignments.store.ts';
import type { Deps } from '../sessions/deps.ts';
import { checkFixed } from '../text/fixed.ts';
import { checkMayChange, checkMayGive, scopeOf } from '../directory/guarded-scopes.ts';
import { endLostImpersonations } from '../sessions/impersonation-endings.ts';
import { inheritedScopes } from '../directory/inheritance.ts';
import { cleanLabel } from '../text/labels.ts';
import { checkChain } from './role-chains.ts';
import { roleStore } from '../directory/roles.store.ts';
import { cleanText } from '../text/text-rules.ts';
import { userStore } from '../directory/users.store.ts';
import type { Write } from '../directory/writes.ts';

/** Maximum number of permissions per role. */
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
      const window = windowOf(request);
      const found = await roleStore(db.sql).list(app.tenant, app.id, window);
      return { roles: answerPage(context.reply, window, found) };
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
      return write(authorOf(context, app), (tx) => deleteRole(tx, context, roleId));
    },

    async addPermission({ roleId, body }, context) {
      const app = await appOfCaller(directory, context, undefined);
      return write(authorOf(context, app), async (tx) => {
        const store = roleStore(tx.sql);
        await store.lock(tx.tenant, tx.app, roleId);
        const scope = scopeOf(body);
        checkMayGive(context, [scope]);
        await checkMayChangeRole(tx, context, roleId);
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
        const held = await inheritedScopes(tx, roleId);
        const { scope } = await store.deletePermission(tx.tenant, roleId, permissionId);
        checkMayChange(context, 'role', held);
        await lose(tx, [scope]);
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
        await checkMayChangeRole(tx, context, roleId);
        const lost = await assignmentStore(tx.sql).delete(tx.tenant, user_id, roleId, org_id);
        if (lost.length > 0) tx.changed('user', user_id);
        await endLostImpersonations(tx);
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
  await checkMayChangeRole(tx, context, id);
  if (next.parent_id !== role.parent_id) {
    if (next.parent_id !== null) await checkParent(tx, context, id, next.parent_id);
  }
  const inherited = role.parent_id === null ? [] : await inheritedScopes(tx, role.parent_id);
  const updated = await store.update(tx.tenant, next);
  if (next.parent_id !== role.parent_id) await lose(tx, inherited);
  tx.emit('auth.role.updated', id, { role_id: id, fields });
  return updated;
}

async function deleteRole(tx: Write, context: Context, id: string) {
  const store = roleStore(tx.sql);
  const app = await appStore(tx.sql).lock(tx.tenant, tx.app);
  const role = await store.lock(tx.tenant, tx.app, id);
  if (role.system) throw Conflict('system role');
  if (app.settings.default_role === role.slug) throw Conflict('role is the default role of the app');
  await checkMayChangeRole(tx, context, id);
  const scopes = await inheritedScopes(tx, id);
  await store.delete(tx.tenant, tx.app, id);
  await lose(tx, scopes);
  tx.emit('auth.role.deleted', id, { role_id: id, slug: role.slug });
  return { status: 'deleted' as const };
}

/**
 * Checks that the parent exists, that the caller may grant its scopes, and that there is neither a cycle nor too long a chain.
 * Changes of inheritance within an app are serialized: two changes that are valid alone can form a cycle together.
 */
async function checkParent(tx: Write, context: Context, id: string, parentId: string): Promise<void> {
  const store = roleStore(tx.sql);
  await appStore(tx.sql).lock(tx.tenant, tx.app);
  const chain = await store.chain(tx.tenant, tx.app, parentId);
  if (chain.length === 0) throw Invalid('parent_id: no such role');
  checkChain(id, chain, await store.height(tx.tenant, tx.app, id));
  checkMayGive(context, await store.scopes(tx.tenant, chain));
}

/** Nobody changes, deletes or unassigns a role that holds more than they do. */
async function checkMayChangeRole(tx: Write, context: Context, id: string): Promise<void> {
  checkMayChange(context, 'role', await inheritedScopes(tx, id));
}

/** Records that holders of these scopes lost them, and ends the impersonations that relied on them. */
async function lose(tx: Write, scopes: readonly string[]): Promise<void> {
  for (const scope of scopes) tx.changed('scope', `${tx.app} ${scope}`);
  if (scopes.length > 0) await endLostImpersonations(tx);
}
