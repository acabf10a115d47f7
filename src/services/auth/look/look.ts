import type { Brand } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import type { KnownApp } from '../directory/directory.ts';
import { brandingStore } from './branding.store.ts';
import type { BrandColors } from './colors.ts';

/** How pages and mails look, for an app or one of its organizations. */
export interface Look
  extends BrandColors, Pick<Brand, 'logo_url' | 'color_scheme' | 'font_family' | 'tagline' | 'custom_css'> {
  /** The name of the company or app that the page or the mail belongs to. */
  readonly name: string;
}

/** The accent of pages without branding, and of a branding that chooses none: the default of the contract. */
const plainAccent = '#7c3aed';
/** The primary colour of a branding that chooses none: the default of the contract. */
const plainPrimary = '#18181b';

/** The look of pages that belong to no app, and of apps without branding. */
export const plainLook = (name: string): Look => ({
  name,
  logo_url: null,
  tagline: '',
  primary_color: plainAccent,
  background_color: '#ffffff',
  accent_color: plainAccent,
  color_scheme: 'system',
  font_family: '',
  custom_css: '',
});

/** The look that a branding describes. */
export const lookFrom = (brand: Brand, app: Pick<KnownApp, 'name'>): Look => ({
  ...brand,
  name: brand.company_name || app.name,
  accent_color:
    brand.accent_color === plainAccent && brand.primary_color !== plainPrimary
      ? brand.primary_color
      : brand.accent_color,
});

/** Returns the branding of the organization, otherwise of the app, otherwise the plain look. */
export async function lookOf(
  sql: Sql,
  app: Pick<KnownApp, 'tenant' | 'id' | 'name'>,
  orgId: string | null,
): Promise<Look> {
  const brand = await brandingStore(sql).of(app.tenant, app.id, orgId ?? undefined);
  return brand ? lookFrom(brand, app) : plainLook(app.name);
}

const systemFonts = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';

/** The fonts of a look, in CSS: its own, and for where they are missing those of the system. */
export const fontsOf = ({ font_family }: Pick<Look, 'font_family'>): string =>
  font_family === '' ? systemFonts : `${font_family}, ${systemFonts}`;

/** The letter that stands for a name where there is no logo. */
export function initialOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.trim());
  return (first?.segment ?? '').toUpperCase();
}
