import { Forbidden, Invalid, NotFound } from '../../../lib/errors.ts';
import type { Context } from '../../../http/context.ts';
import type { Deps } from './deps.ts';
import type { Directory, KnownApp } from './directory.ts';
import { AppMismatch, NoApp } from '../errors.ts';
import { userStore } from './users.store.ts';
import type { Author } from './writes.ts';

/** How a public operation names its app. */
export interface NamedApp {
  readonly publishableKey: string | undefined;
  readonly appId: string | undefined;
}

/** Returns the app of a public operation: by publishable key, otherwise by `app_id`. Credentials are not used instead. */
export async function appInContext(
  directory: Directory,
  { publishableKey, appId }: NamedApp,
): Promise<KnownApp> {
  if (publishableKey !== undefined) {
    const app = publishableKey.startsWith('pk_') ? await directory.appOfKey(publishableKey) : undefined;
    if (!app) throw Invalid('unknown publishable key');
    if (appId !== undefined && appId !== app.id) throw Invalid('app_id does not match publishable key');
    return app;
  }
  if (appId === undefined)
    throw Invalid('app context required: send X-Publishable-Key header or app_id in the body');
  const app = await directory.app(appId);
  if (!app) throw Invalid('unknown app_id');
  return app;
}

/**
 * Returns the app whose records an authenticated caller means. Sessions, access tokens and keys are bound to their app; root
 * names an app, or means the default app of its tenant. The operator may name an app of any tenant.
 */
export async function appOfCaller(
  directory: Directory,
  context: Context,
  appId: string | undefined,
): Promise<KnownApp> {
  const bound = context.credential.kind !== 'root' && context.credential.kind !== 'anonymous';
  if (bound && appId !== undefined && appId !== context.app) throw AppMismatch();
  const app = await directory.app(appId ?? context.app);
  if (app && (app.tenant === context.tenant || (context.operator && !bound))) return app;
  if (appId !== undefined) throw NotFound('app');
  const fallback = context.app === 'default' ? await directory.defaultApp(context.tenant) : undefined;
  if (!fallback) throw NoApp();
  return fallback;
}

/** Returns the app of a read-only public operation: without a key or an `app_id`, the credentials determine it. */
export async function appForReading(
  directory: Directory,
  context: Context,
  named: NamedApp,
): Promise<KnownApp> {
  const isNamed = named.publishableKey !== undefined || named.appId !== undefined;
  if (isNamed || context.scopes.length + (context.userId === null ? 0 : 1) === 0)
    return appInContext(directory, named);
  return appOfCaller(directory, context, undefined);
}

/** The author of a write that an authenticated caller requests. */
export const authorOf = ({ actor, session, ip, userAgent }: Context, app: KnownApp): Author => ({
  tenant: app.tenant,
  app: app.id,
  actor,
  impersonatedBy: session?.impersonatedBy ?? null,
  visit: { ip, userAgent },
});

/** The user whose own account an operation works on. */
export interface CallingUser {
  readonly app: KnownApp;
  readonly userId: string;
}

/** Returns the signed-in user, or the user that root names, who must belong to the app. */
export async function userOfCaller(
  { db, directory }: Pick<Deps, 'db' | 'directory'>,
  context: Context,
): Promise<CallingUser> {
  const app = await appOfCaller(directory, context, undefined);
  const { userId, session } = context;
  if (userId === null) throw Forbidden('a signed-in user is needed');
  if (session === null) await userStore(db.sql).get(app.tenant, app.id, userId);
  return { app, userId };
}
