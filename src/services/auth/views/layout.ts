import { createHash, randomBytes } from 'node:crypto';
import { Markup, markup } from '../../../http/html.ts';
import { enhancements } from './enhancements.ts';
import { exchange } from './icons.ts';
import { initialOf, type Look } from '../look/look.ts';
import { styleOf } from './style.ts';

/** The content of a page. */
export interface PageView {
  readonly title: string;
  readonly body: Markup;
  /** Additional targets of its forms besides the server itself: the sources of `form-action`. */
  readonly leadsTo?: readonly string[];
  /** A script that runs after the page has loaded; the page must work without it. The text is constant, never user input. */
  readonly script?: string | undefined;
  /** Another party that the page is about; its mark stands beside that of the page's owner. */
  readonly beside?: { readonly name: string; readonly logo: string | null };
  /** Whether the page is a list that needs more than the width of a form. */
  readonly wide?: boolean;
}

/** A page ready to be sent. */
export interface RenderedPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Renders a page in its look, with headers that forbid foreign scripts, frames and caching. */
export function renderPage(view: PageView, look: Look): RenderedPage {
  const { leadsTo = [], beside } = view;
  const script = view.script ?? (hasEnhanced.test(String(view.body)) ? enhancements : undefined);
  const nonce = randomBytes(16).toString('base64url');
  return {
    headers: {
      'Content-Security-Policy': [
        "default-src 'none'",
        `style-src 'nonce-${nonce}'`,
        ["img-src 'self' data:", ...picturesFrom(look.logo_url, beside?.logo ?? null)].join(' '),
        ...(script === undefined ? [] : [`script-src 'sha256-${digestOf(script)}'`]),
        ["form-action 'self'", ...leadsTo].join(' '),
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ].join('; '),
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
    },
    body: String(whole({ ...view, script }, look, nonce)),
  };
}

/** The fields that the script improves. */
const hasEnhanced = /class="(?:secret|cells)"/;

const digestOf = (script: string) => createHash('sha256').update(script).digest('base64');

/** The style and the script are not escaped: they stand between their tags as they are. */
const whole = (
  { title, body, script, wide, beside }: PageView,
  look: Look,
  nonce: string,
) => markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="${scheme(look)}">
<link rel="icon" href="data:,">
<title>${title} · ${look.name}</title>
<style nonce="${nonce}">${new Markup(styleOf(look))}</style>
</head>
<body>
<main${wide && markup` class="wide"`}>
${header(look, beside)}
${body}
</main>${script !== undefined && new Markup(`\n<script>${script}</script>`)}
</body>
</html>
`;

const scheme = ({ color_scheme }: Look) => (color_scheme === 'system' ? 'light dark' : color_scheme);

const header = ({ name, logo_url, tagline }: Look, beside: PageView['beside']) => {
  const own = markOf(name, logo_url);
  const marks = beside
    ? markup`<div class="parties">${markOf(beside.name, beside.logo, 'client')}${exchange}${own}</div>`
    : own;
  const said = tagline !== '' && markup`<p class="tagline">${tagline}</p>`;
  return markup`<header>${marks}<p class="name">${name}</p>${said}</header>`;
};

/** The logo of a party whose name stands beside it; without a logo, the first letter of the name. */
const markOf = (name: string, logoUrl: string | null, className?: string): Markup =>
  logoUrl === null || sourceOfPicture(logoUrl) === undefined
    ? markup`<span class="${['mark', className].filter((one) => one !== undefined).join(' ')}" aria-hidden="true">${initialOf(name)}</span>`
    : markup`<img src="${logoUrl}" alt=""${className !== undefined && markup` class="${className}"`}>`;

const picturesFrom = (...addresses: readonly (string | null)[]): Set<string> =>
  new Set(addresses.map(sourceOfPicture).filter((source) => source !== undefined));

/** The source from which a page loads a picture; undefined if the URL yields no valid source. */
function sourceOfPicture(logoUrl: string | null): string | undefined {
  const { protocol, origin } = (logoUrl === null ? null : URL.parse(logoUrl)) ?? {};
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return isWeb && origin !== undefined ? sourceOf(origin) : undefined;
}

/** The `form-action` source for a redirect after a form was sent; undefined if the URI yields no valid source. */
export function formActionSource(redirectUri: string): string | undefined {
  const { protocol, origin } = new URL(redirectUri);
  return sourceOf(origin === 'null' ? protocol : origin);
}

/** A source in the syntax of policies; undefined if it would be several sources, or none. */
const sourceOf = (text: string): string | undefined =>
  /^[a-z][a-z0-9+.-]*:(\/\/[a-z0-9.:[\]-]+)?$/i.test(text) ? text : undefined;
