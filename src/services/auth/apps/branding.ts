import type { Branding } from '../../../../generated/auth/server.ts';
import type { Brand } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { Invalid, NotFound } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { checkShownText } from '../../../lib/shown-text.ts';
import { appForReading, appOfCaller } from '../directory/app-context.ts';
import { isFontFamily } from '../text/branding-rules.ts';
import { brandingStore } from '../look/branding.store.ts';
import { problemOfCss } from '../text/custom-css.ts';
import type { Deps } from './deps.ts';
import { cleanUrl } from '../text/url-rules.ts';

/** Branding: how the hosted pages look, for an app or one of its organizations. */
export const branding = ({ db, directory, production }: Pick<Deps, 'db' | 'directory' | 'production'>) =>
  ({
    async create({ body: given }, context) {
      const body = cleanLook(given, production);
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
      // An organization's own sign-in page knows only the organization.
      const appId = app_id ?? (org_id === undefined ? undefined : await store.appOfOrganization(org_id));
      const app = await appForReading(directory, context, { publishableKey, appId });
      const found = await store.of(app.tenant, app.id, org_id);
      if (!found) throw NotFound('branding');
      return found;
    },

    async update({ brandingId, body: given }, context) {
      const body = cleanLook(given, production);
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

/** Returns the look in its stored form. @throws Invalid naming the member that must not appear on a page. */
function cleanLook<Given extends GivenLook>(look: Given, production: boolean): Given {
  checkLook(look);
  const { logo_url } = look;
  return typeof logo_url === 'string'
    ? { ...look, logo_url: cleanUrl('logo_url', logo_url, production) }
    : look;
}

type GivenLook = Partial<Pick<Brand, 'logo_url' | 'custom_css' | 'font_family' | 'company_name' | 'tagline'>>;

function checkLook({ custom_css, font_family, company_name, tagline }: GivenLook): void {
  checkShownText('company_name', company_name);
  checkShownText('tagline', tagline);
  const problem = custom_css === undefined ? undefined : problemOfCss(custom_css);
  if (problem !== undefined) throw Invalid(`custom_css: ${problem}`);
  if (font_family !== undefined && !isFontFamily(font_family))
    throw Invalid('font_family: must be names of fonts, separated by commas');
}

/** Drops absent members, so that they keep their value. */
const present = <T extends object>(body: T): Partial<T> =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as Partial<T>;
