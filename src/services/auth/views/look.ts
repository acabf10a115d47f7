import type { Brand } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { brandingStore } from '../apps/branding.store.ts';
import type { KnownApp } from '../directory/directory.ts';
import type { BrandColors } from './colors.ts';

/** How the pages look, for an app or one of its organizations. */
export interface Look
  extends BrandColors, Pick<Brand, 'logo_url' | 'font_family' | 'tagline' | 'custom_css'> {
  /** The name of the company or app that the page belongs to. */
  readonly name: string;
}

/** The look of pages that belong to no app, and of apps without branding. */
export const plainLook = (name: string): Look => ({
  name,
  logo_url: null,
  tagline: '',
  primary_color: '#18181b',
  background_color: '#ffffff',
  accent_color: '#7c3aed',
  font_family: '',
  custom_css: '',
});

/** Returns the branding of the organization, otherwise of the app, otherwise the plain look. */
export async function lookOf(sql: Sql, app: KnownApp, orgId: string | null): Promise<Look> {
  const brand = await brandingStore(sql).of(app.tenant, app.id, orgId ?? undefined);
  return brand ? { ...brand, name: brand.company_name || app.name } : plainLook(app.name);
}
