/** A colour as `#rrggbb`. */
export type Color = string;

const ink = '#18181b';
const paper = '#f4f4f5';
const white = '#ffffff';
const black = '#000000';
/** The background of dark pages whose brand has a light one. */
const night = '#141417';

/** The minimum contrast of normal text (WCAG 2.2, 1.4.3), and of the boundaries of a control (1.4.11). */
const textContrast = 4.5;
const boundsContrast = 3;

const channels = (color: Color) => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

/** Relative luminance: 0 is black, 1 is white. */
function luminance(color: Color): number {
  const [red, green, blue] = channels(color).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** Contrast ratio from 1 (the same) to 21 (black and white). */
export function contrast(one: Color, other: Color): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light! + 0.05) / (dark! + 0.05);
}

/** Whether white contrasts with the colour more than black does. */
export const isDark = (color: Color): boolean => contrast(color, white) > contrast(color, black);

/** Whether the colour is a shade of grey, or nearly one. */
const isGrey = (color: Color): boolean => Math.max(...channels(color)) - Math.min(...channels(color)) < 24;

/** Returns the first of the colours that is readable on `ground`; otherwise black or white, one of which always is. */
export function readableOn(ground: Color, ...wanted: readonly Color[]): Color {
  const found = [...wanted, ink, white, black].find((color) => contrast(color, ground) >= textContrast);
  return found ?? black;
}

/** Mixes two colours; `share` is the share of the first. */
export function mixed(one: Color, share: number, other: Color): Color {
  const [from, to] = [channels(one), channels(other)];
  const parts = from.map((channel, at) => Math.round(channel * share + to[at]! * (1 - share)));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** Returns the colour, as much lighter or darker as it takes to reach the contrast with `ground`. */
export function shaded(color: Color, ground: Color, least: number): Color {
  const target = isDark(ground) ? white : black;
  for (let share = 1; share > 0; share -= 0.05) {
    const shade = mixed(color, share, target);
    if (contrast(shade, ground) >= least) return shade;
  }
  return target;
}

/** The colours that a brand chooses. */
export interface BrandColors {
  readonly primary_color: Color;
  readonly background_color: Color;
  readonly accent_color: Color;
}

/** The colours of a page by what they are for. */
export type Palette = ReturnType<typeof palette>;

/** All colours of a page: whatever a brand chooses, texts stay readable and controls visible. */
export function palette({
  primary_color: primary,
  background_color: ground,
  accent_color: accent,
}: BrandColors) {
  const text = readableOn(ground, ink, paper);
  const visible = (color: Color) => (contrast(color, ground) >= boundsContrast ? color : text);
  const onPrimary = readableOn(primary, white);
  const tint = (color: Color) => mixed(color, 0.1, ground);
  const danger = readableOn(ground, '#b42318', '#fda29b');
  const done = readableOn(ground, '#067647', '#75e0a7');
  return {
    ground,
    backdrop: isDark(ground) ? mixed(ground, 0.6, black) : mixed(accent, 0.05, mixed(ground, 0.97, text)),
    text,
    muted: readableOn(ground, mixed(text, 0.7, ground)),
    line: mixed(text, 0.14, ground),
    field: visible(mixed(text, 0.5, ground)),
    primary,
    'primary-hover': mixed(primary, 0.9, isDark(onPrimary) ? white : black),
    'on-primary': onPrimary,
    'primary-line': visible(primary),
    link: shaded(accent, ground, textContrast),
    focus: shaded(accent, ground, boundsContrast),
    'focus-glow': `${shaded(accent, ground, boundsContrast)}2e`,
    danger,
    'danger-ground': tint(danger),
    'on-danger-ground': readableOn(tint(danger), danger),
    done,
    'done-ground': tint(done),
    'on-done-ground': readableOn(tint(done), done),
  } as const;
}

/** The colours of pages that are light, and of pages that are dark. */
export interface Schemes {
  readonly light: BrandColors;
  readonly dark: BrandColors;
}

/** The colours of both schemes: the brand's own for the one that its background suits, and derived ones for the other. */
export function schemesOf(brand: BrandColors): Schemes {
  return isDark(brand.background_color)
    ? { light: adapted(brand, white), dark: brand }
    : { light: brand, dark: adapted(brand, mixed(brand.accent_color, 0.04, night)) };
}

/** The colours of a brand on another background. Grey buttons are replaced there, because a shade in between looks disabled. */
function adapted({ primary_color: primary, accent_color }: BrandColors, ground: Color): BrandColors {
  const replaced = isGrey(primary) ? readableOn(ground, ink, paper) : shaded(primary, ground, boundsContrast);
  const primary_color = contrast(primary, ground) >= boundsContrast ? primary : replaced;
  return { primary_color, background_color: ground, accent_color };
}
