/** A colour as `#rrggbb`. */
export type Color = string;

const ink = '#18181b';
const white = '#ffffff';
const black = '#000000';

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

/** Whether white contrasts with the colour more than black does: then the browser's own controls are dark, too. */
export const isDark = (color: Color): boolean => contrast(color, white) > contrast(color, black);

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

/** The colours that a brand chooses. */
export interface BrandColors {
  readonly primary_color: Color;
  readonly background_color: Color;
  readonly accent_color: Color;
}

/** All colours of a page: whatever a brand chooses, texts stay readable and controls visible. */
export function palette({
  primary_color: primary,
  background_color: ground,
  accent_color: accent,
}: BrandColors) {
  const text = readableOn(ground);
  const visible = (color: Color) => (contrast(color, ground) >= boundsContrast ? color : text);
  return {
    ground,
    backdrop: mixed(ground, 0.96, text),
    text,
    muted: readableOn(ground, mixed(text, 0.72, ground)),
    line: mixed(text, 0.16, ground),
    field: visible(mixed(text, 0.5, ground)),
    primary,
    'on-primary': readableOn(primary),
    'primary-line': visible(primary),
    link: readableOn(ground, accent, text),
    focus: visible(accent),
    danger: readableOn(ground, '#b42318', '#fda29b'),
    done: readableOn(ground, '#067647', '#75e0a7'),
  } as const;
}
