import type { Brand } from '../../../../generated/auth/types.ts';
import { constrained } from '../../../db/constraints.ts';
import type { Fragment, Sql } from '../../../db/index.ts';
import { NotFound } from '../../../lib/errors.ts';
import { constraints } from '../errors.ts';

export type NewBrand = Omit<Brand, 'created_at' | 'updated_at'> & { readonly tenant_id: string };

/** Every statement about branding. */
export const brandingStore = (sql: Sql) => ({
  async insert({ org_id, ...brand }: NewBrand): Promise<Brand> {
    const [inserted] = await constrained(
      constraints,
      sql<[Brand]>`
        insert into auth.branding ${sql({ ...brand, org_id: org_id ?? '' })}
        returning ${brandColumns(sql)}`,
    );
    return inserted;
  },

  async get(tenant: string, app: string, id: string): Promise<Brand> {
    const [brand] = await sql<Brand[]>`
      select ${brandColumns(sql)} from auth.branding where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    if (!brand) throw NotFound('branding');
    return brand;
  },

  /** Returns the branding of the organization, otherwise that of the app. */
  async of(tenant: string, app: string, orgId: string | undefined): Promise<Brand | undefined> {
    const [brand] = await sql<Brand[]>`
      select ${brandColumns(sql)}
      from auth.branding
      where tenant_id = ${tenant} and app_id = ${app} and org_id in ('', ${orgId ?? ''})
      order by branding.org_id desc
      limit 1`;
    return brand;
  },

  async hasOrganization(tenant: string, app: string, orgId: string): Promise<boolean> {
    const [found] = await sql`
      select 1 from auth.organizations where tenant_id = ${tenant} and app_id = ${app} and id = ${orgId}`;
    return found !== undefined;
  },

  /** Returns the app of an organization in any tenant: pages shown before sign-in name only the organization. */
  async appOfOrganization(orgId: string): Promise<string | undefined> {
    const [found] = await sql<{ app_id: string }[]>`
      select app_id from auth.organizations where id = ${orgId}`;
    return found?.app_id;
  },

  async update(tenant: string, brand: Brand): Promise<Brand> {
    const [updated] = await sql<[Brand]>`
      update auth.branding
      set logo_url = ${brand.logo_url}, primary_color = ${brand.primary_color},
        background_color = ${brand.background_color}, accent_color = ${brand.accent_color},
        color_scheme = ${brand.color_scheme},
        font_family = ${brand.font_family}, company_name = ${brand.company_name}, tagline = ${brand.tagline},
        custom_css = ${brand.custom_css}, updated_at = now()
      where tenant_id = ${tenant} and app_id = ${brand.app_id} and id = ${brand.id}
      returning ${brandColumns(sql)}`;
    return updated;
  },

  async delete(tenant: string, app: string, id: string): Promise<void> {
    const { count } = await sql`
      delete from auth.branding where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    if (count === 0) throw NotFound('branding');
  },
});

/** The members of a branding. */
export const brandColumns = (sql: Sql): Fragment => sql`
  branding.id, branding.app_id, nullif(branding.org_id, '') as org_id, branding.logo_url, branding.primary_color,
  branding.background_color, branding.accent_color, branding.color_scheme, branding.font_family,
  branding.company_name, branding.tagline, branding.custom_css, branding.created_at, branding.updated_at`;
