import { isDeepStrictEqual } from 'node:util';
import type { Apps } from '../../../../generated/auth/server.ts';
import type { App, AppSettings } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { Conflict, Invalid, NotFound } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { authorOf } from '../directory/app-context.ts';
import { cleanSettings } from '../text/app-settings.ts';
import { appStore } from '../directory/apps.store.ts';
import type { Deps } from './deps.ts';
import type { Directory, KnownApp } from '../directory/directory.ts';
import { AppMismatch } from '../errors.ts';
import { checkFixed } from '../text/fixed.ts';
import { checkMayChange, checkMayGive } from '../directory/guarded-scopes.ts';
import { inheritedScopes } from '../directory/inheritance.ts';
import { roleStore } from '../directory/roles.store.ts';
import { scopeStore } from '../directory/scopes.store.ts';
import { cleanLabel } from '../text/labels.ts';
import type { Write } from '../directory/writes.ts';

/** Maximum number of publishable keys per app. */
const mostKeys = 10;

/** Apps: the products of a tenant, their settings and publishable keys. */
export const apps = ({ db, directory, write, production }: Deps) =>
  ({
    async create({ body: { name, slug, settings } }, context) {
      checkNotBound(context);
      const { tenant, actor } = context;
      const id = newId('app');
      const app = {
        id,
        tenant_id: tenant,
        name: cleanLabel('name', name),
        slug,
        settings: cleanSettings(settings, production),
      };
      return write({ tenant, app: id, actor }, async (tx) => {
        const store = appStore(tx.sql);
        await store.insertOnce({ ...app, is_default: await store.lockFirst(tenant) });
        await store.seedRoles(tenant, id);
        await checkDefaultRole(tx, context, app.settings.default_role);
        tx.emit('auth.app.created', id, { slug });
        return store.get(tenant, id);
      });
    },

    async list(request, context) {
      checkNotBound(context);
      const window = windowOf(request);
      const found = await appStore(db.sql).list(context.tenant, window);
      return { apps: answerPage(context.reply, window, found) };
    },

    async get({ appId }, context) {
      const { tenant, id } = await appInReach(directory, context, appId);
      return appStore(db.sql).get(tenant, id);
    },

    async update({ appId, body: { name, slug, settings = {} } }, context) {
      const known = await appInReach(directory, context, appId);
      const change = {
        ...(name === undefined ? {} : { name: cleanLabel('name', name) }),
        settings: cleanSettings(settings, production),
      };
      return write(authorOf(context, known), async (tx) => {
        const store = appStore(tx.sql);
        const app = await store.lock(tx.tenant, tx.app);
        checkFixed('slug', slug, app.slug);
        return changeApp(tx, context, app, change);
      });
    },

    async delete({ appId }, context) {
      const known = await appInReach(directory, context, appId);
      return write(authorOf(context, known), async (tx) => {
        const store = appStore(tx.sql);
        const { is_default, slug } = await store.lock(tx.tenant, tx.app);
        if (is_default) throw Conflict('the default app cannot be deleted');
        // Deleting the app deletes all its users.
        checkMayChange(context, 'app', await scopeStore(tx.sql).anywhereInApp(tx.tenant, tx.app));
        await store.markDeleted(tx.tenant, tx.app);
        tx.changed('app', tx.app);
        tx.emit('auth.app.deleted', tx.app, { slug });
        return { status: 'deleted' as const };
      });
    },

    async addKey({ appId }, context) {
      const known = await appInReach(directory, context, appId);
      return write(authorOf(context, known), async (tx) => {
        const store = appStore(tx.sql);
        const { publishable_keys } = await store.lock(tx.tenant, tx.app);
        if (publishable_keys.length >= mostKeys)
          throw Conflict(`an app has at most ${mostKeys} publishable keys`);
        await store.insertKey(tx.tenant, tx.app);
        tx.emit('auth.app.updated', tx.app, { fields: ['publishable_keys'] });
        return store.get(tx.tenant, tx.app);
      });
    },

    async removeKey({ appId, key }, context) {
      const known = await appInReach(directory, context, appId);
      return write(authorOf(context, known), async (tx) => {
        const store = appStore(tx.sql);
        const { publishable_keys } = await store.lock(tx.tenant, tx.app);
        await store.deleteKey(tx.tenant, tx.app, key);
        if (publishable_keys.length === 1) throw Conflict('an app keeps one publishable key');
        tx.changed('app', tx.app, 'forget');
        tx.emit('auth.app.updated', tx.app, { fields: ['publishable_keys'] });
        return store.get(tx.tenant, tx.app);
      });
    },
  }) satisfies Apps<Context>;

/** Sessions, access tokens and API keys belong to one app and cannot see any other. */
const isBound = ({ credential }: Context) => credential.kind !== 'root' && credential.kind !== 'anonymous';

function checkNotBound(context: Context): void {
  if (isBound(context)) throw AppMismatch();
}

/** Finds the app if the caller may know of it: a bound caller sees its own, root its tenant's, the operator all. */
async function appInReach(directory: Directory, context: Context, id: string): Promise<KnownApp> {
  const app = await directory.app(id);
  const inReach =
    app !== undefined &&
    (isBound(context)
      ? app.tenant === context.tenant && app.id === context.app
      : app.tenant === context.tenant || context.operator);
  if (!inReach) throw NotFound('app');
  return app;
}

/** Changes the members that differ; absent settings keep their value. */
async function changeApp(
  tx: Write,
  context: Context,
  app: App,
  { name = app.name, settings }: { name?: string; settings: Partial<AppSettings> },
): Promise<App> {
  const next = { ...app, name, settings: { ...app.settings, ...settings } };
  const fields = [
    ...(name === app.name ? [] : ['name']),
    ...Object.entries(settings).flatMap(([member, value]) =>
      isDeepStrictEqual(value, app.settings[member as keyof AppSettings]) ? [] : [`settings.${member}`],
    ),
  ];
  if (fields.length === 0) return app;
  if (next.settings.default_role !== app.settings.default_role)
    await checkDefaultRole(tx, context, next.settings.default_role);
  await appStore(tx.sql).update(tx.tenant, next);
  tx.changed('app', app.id, 'forget');
  tx.emit('auth.app.updated', app.id, { fields });
  return appStore(tx.sql).get(tx.tenant, app.id);
}

/** Checks that the role exists and that the caller may grant what every user will hold through it. */
async function checkDefaultRole(tx: Write, context: Context, slug: string): Promise<void> {
  const role = await roleStore(tx.sql).lockBySlug(tx.tenant, tx.app, slug);
  if (!role) throw Invalid('settings.default_role: no such role');
  checkMayGive(context, await inheritedScopes(tx, role.id));
}
