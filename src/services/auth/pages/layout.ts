import { randomBytes } from 'node:crypto';
import { Markup, markup } from '../../../http/html.ts';
import type { Look } from './look.ts';
import { styleOf } from './style.ts';

/** What is on a page. */
export interface PageView {
  readonly title: string;
  readonly body: Markup;
  /** Where its forms may lead besides the server itself: the sources of `form-action`. */
  readonly leadsTo?: readonly string[];
}

/** A page as it goes out. */
export interface RenderedPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A page in its look, with the headers that keep scripts, frames and caches away from it. */
export function renderPage({ title, body, leadsTo = [] }: PageView, look: Look): RenderedPage {
  const nonce = randomBytes(16).toString('base64url');
  return {
    headers: {
      'Content-Security-Policy': [
        "default-src 'none'",
        `style-src 'nonce-${nonce}'`,
        'img-src https: data:',
        ["form-action 'self'", ...leadsTo].join(' '),
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ].join('; '),
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
    },
    body: String(whole(title, body, look, nonce)),
  };
}

/** The style is no text of the page: it stands between its tags as it is. */
const whole = (title: string, body: Markup, look: Look, nonce: string) => markup`<!doctype html>
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
</main>
</body>
</html>
`;

const header = ({ name, logo_url, tagline }: Look) => {
  const said = tagline !== '' && markup`<p class="tagline">${tagline}</p>`;
  return logo_url === null
    ? markup`<header><div><p>${name}</p>${said}</div></header>`
    : markup`<header><div><img src="${logo_url}" alt="${name}">${said}</div></header>`;
};

/** Where a browser may be led after a form was sent, as a source of `form-action`; undefined for what would be none. */
export function formActionSource(redirectUri: string): string | undefined {
  const { protocol, origin } = new URL(redirectUri);
  const source = origin === 'null' ? protocol : origin;
  return /^[a-z][a-z0-9+.-]*:(\/\/[a-z0-9.:[\]-]+)?$/i.test(source) ? source : undefined;
}
