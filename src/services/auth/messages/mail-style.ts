import { Markup, markup } from '../../../http/html.ts';
import { type BrandColors, type Palette, palette, readableOn, schemesOf } from '../look/colors.ts';
import type { Look } from '../look/look.ts';

type Declarations = Readonly<Record<string, string>>;

/** The colours of the parts of a mail, which are the ones of the pages. */
const paints = {
  backdrop: ({ backdrop }) => ({ 'background-color': backdrop }),
  card: ({ ground, line }) => ({ 'background-color': ground, 'border-color': line }),
  text: ({ text }) => ({ color: text }),
  muted: ({ muted }) => ({ color: muted }),
  below: ({ backdrop, muted, text }) => ({ color: readableOn(backdrop, muted, text) }),
  link: ({ link }) => ({ color: link }),
  solid: (colors) => ({ 'background-color': colors.primary, 'border-color': colors['primary-line'] }),
  'on-solid': (colors) => ({ color: colors['on-primary'] }),
} as const satisfies Record<string, (colors: Palette) => Declarations>;

/** What a part of a mail is, as far as its colours go; also its class. */
export type Paint = keyof typeof paints | 'logo';

export interface MailStyle {
  /** The values of the `color-scheme` of the mail. */
  readonly scheme: string;
  /** The rules that cannot stand at the elements: those of the other scheme, and of narrow windows. */
  readonly rules: Markup;
  /** The class and the style of an element. Its layout is constant text or comes from the look, whose values are checked. */
  at(paint: Paint, layout: string): Markup;
}

/** On a phone the card is as wide as the window. */
const narrow = `@media (max-width: 480px) {
  .frame { padding: 0 !important }
  .card { padding: 32px 20px 16px !important; border-width: 0 0 1px !important; border-radius: 0 !important }
  .below { padding: 24px 20px !important }
}
`;

/**
 * Mail programs honour what stands at the elements. That is the light scheme, unless the look is always dark, so that a mail can be
 * read where rules are dropped; rules change it where the reader's system is dark.
 */
export function mailStyle(look: Look): MailStyle {
  const { light, dark } = schemesOf(look);
  const first = paintedIn(look.color_scheme === 'dark' ? dark : light, look);
  const other = look.color_scheme === 'system' ? inTheDark(paintedIn(dark, look)) : '';
  return {
    scheme: { system: 'light dark', light: 'light only', dark: 'dark only' }[look.color_scheme],
    rules: new Markup(`${narrow}${other}`),
    at: (paint, layout) =>
      markup` class="${paint}" style="${[layout, written(first[paint])].filter((one) => one !== '').join(';')}"`,
  };
}

/** All declarations of one scheme. */
function paintedIn(colors: BrandColors, look: Look): Record<Paint, Declarations> {
  const { background_color: ground } = look;
  const of = palette(colors);
  const own = Object.entries(paints).map(([name, paint]) => [name, paint(of)]);
  // A logo is drawn for the brand's own background, so it keeps that where the mail has another. Its colour is that of its name.
  const logo =
    colors.background_color === ground
      ? { color: of.text, 'background-color': ground, padding: '0', height: '40px' }
      : { color: readableOn(ground), 'background-color': ground, padding: '8px 12px', height: '56px' };
  return { ...(Object.fromEntries(own) as Record<keyof typeof paints, Declarations>), logo };
}

const inTheDark = (painted: Record<Paint, Declarations>): string => {
  const rules = Object.entries(painted).map(([name, all]) => `.${name} { ${written(all, ' !important')} }`);
  return `@media (prefers-color-scheme: dark) { ${rules.join(' ')} }`;
};

const written = (declarations: Declarations, importance = ''): string =>
  Object.entries(declarations)
    .map(([name, value]) => `${name}:${value}${importance}`)
    .join(';');
