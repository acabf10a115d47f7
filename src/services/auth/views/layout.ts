import { createHash, randomBytes } from 'node:crypto';
import { Markup, markup } from '../../../http/html.ts';
import type { Look } from './look.ts';
import { styleOf } from './style.ts';

/** The content of a page. */
export interface PageView {
  readonly title: string;
  readonly body: Markup;
  /** Additional targets of its forms besides the server itself: the sources of `form-action`. */
  readonly leadsTo?: readonly string[];
  /** A script that runs after the page has loaded; the page must work without it. The text is constant, never user input. */
  readonly script?: string;
}

/** A page ready to be sent. */
export interface RenderedPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Renders a page in its look, with headers that forbid foreign scripts, frames and caching. */
export function renderPage({ title, body, leadsTo = [], script }: PageView, look: Look): RenderedPage {
  const nonce = randomBytes(16).toString('base64url');
  return {
    headers: {
      'Content-Security-Policy': [
        "default-src 'none'",
        `style-src 'nonce-${nonce}'`,
        ["img-src 'self' data:", logoSource(look.logo_url) ?? []].flat().join(' '),
        ...(script === undefined ? [] : [`script-src 'sha256-${digestOf(script)}'`]),
        ["form-action 'self'", ...leadsTo].join(' '),
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ].join('; '),
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
    },
    body: String(whole(title, body, look, nonce, script)),
  };
}

const digestOf = (script: string) => createHash('sha256').update(script).digest('base64');

/** The style and the script are not escaped: they stand between their tags as they are. */
const whole = (
  title: string,
  body: Markup,
  look: Look,
  nonce: string,
  script: string | undefined,
) => markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<title>${title} · ${look.name}</title>
<style nonce="${nonce}">${new Markup(styleOf(look))}</style>
</head>
<body>
<main>
${header(look)}
${body}
</main>${script !== undefined && new Markup(`\n<script>${script}</script>`)}
</body>
</html>
`;

const header = ({ name, logo_url, tagline }: Look) => {
  const said = tagline !== '' && markup`<p class="tagline">${tagline}</p>`;
  return logo_url === null || logoSource(logo_url) === undefined
    ? markup`<header><div><p>${name}</p>${said}</div></header>`
    : markup`<header><div><img src="${logo_url}" alt="${name}">${said}</div></header>`;
};

/** The only external source that a page loads from; undefined if the URL yields no valid source. */
function logoSource(logoUrl: string | null): string | undefined {
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
