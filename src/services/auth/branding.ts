import type { Branding } from '../../../generated/auth/server.ts';
import type { Brand } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import { Invalid, NotFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { appForReading, appOfCaller } from './app-context.ts';
import { forbiddenInCss, isFontFamily } from './branding-rules.ts';
import { brandingStore } from './branding.store.ts';
import type { Deps } from './deps.ts';

/** Branding: how the hosted pages look, for an app or one of its organizations. */
export const branding = ({ db, directory }: Pick<Deps, 'db' | 'directory'>) =>
  ({
    async create({ body }, context) {
      checkLook(body);
      const app = await appOfCaller(directory, context, body.app_id);
      return db.transaction(async (sql) => {
        const store = brandingStore(sql);
        const { org_id } = body;
        if (org_id !== null && !(await store.hasOrganization(app.tenant, app.id, org_id)))
          throw Invalid('org_id: no such organization');
        return store.insert({ ...body, id: newId('brnd'), tenant_id: app.tenant, app_id: app.id });
      });
    },

    async get({ app_id, org_id, 'X-Publishable-Key': publishableKey }, context) {
      const store = brandingStore(db.sql);
      // An organization's own sign-in page knows nothing but the organization.
      const appId = app_id ?? (org_id === undefined ? undefined : await store.appOfOrganization(org_id));
      const app = await appForReading(directory, context, { publishableKey, appId });
      const found = await store.of(app.tenant, app.id, org_id);
      if (!found) throw NotFound('branding');
      return found;
    },

    async update({ brandingId, body }, context) {
      checkLook(body);
      const app = await appOfCaller(directory, context, undefined);
      return db.transaction(async (sql) => {
        const store = brandingStore(sql);
        const current = await store.get(app.tenant, app.id, brandingId);
        for (const fixed of ['app_id', 'org_id'] as const) {
          if (body[fixed] !== undefined && body[fixed] !== current[fixed])
            throw Invalid(`${fixed}: cannot be changed`);
        }
        return store.update(app.tenant, { ...current, ...present(body) });
      });
    },

    async delete({ brandingId }, context) {
      const app = await appOfCaller(directory, context, undefined);
      await brandingStore(db.sql).delete(app.tenant, app.id, brandingId);
      return { status: 'deleted' };
    },
  }) satisfies Branding<Context>;

function checkLook({ custom_css, font_family }: Partial<Pick<Brand, 'custom_css' | 'font_family'>>): void {
  const found = custom_css === undefined ? undefined : forbiddenInCss(custom_css);
  if (found !== undefined) throw Invalid(`custom_css: must not contain ${found}`);
  if (font_family !== undefined && !isFontFamily(font_family))
    throw Invalid('font_family: must be names of fonts, separated by commas');
}

/** Absent members keep their value. */
const present = <T extends object>(body: T): Partial<T> =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as Partial<T>;
