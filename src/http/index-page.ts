import { escapeHtml, type HtmlPage } from './html.ts';

/** A service in the index, as shown on the page and as returned in JSON. */
export interface IndexEntry {
  readonly name: string;
  readonly title: string;
  /** A description of one sentence. */
  readonly description: string;
  /** Paths on this server. */
  readonly base: string;
  readonly reference: string;
  readonly document: string;
}

const style = `
  :root { color-scheme: light dark }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 0 auto; padding: 2rem 1rem }
  h1 { margin: 0 } h2 { margin: 0; font-size: 1.1rem } p { margin: .25rem 0 }
  article { margin: 1.25rem 0; padding: 1rem; border: 1px solid #8884; border-radius: .5rem }
  a { display: inline-block; margin-right: 1rem; padding: .25rem 0 }
`;

/** A path of the server itself, and the text of its link. */
export type OwnLink = readonly [href: string, text: string];

/** The page at the server's address: which services run here, and where their documentation is. */
export function indexPage(services: readonly IndexEntry[], own: readonly OwnLink[]): HtmlPage {
  const articles = services.map(
    ({ name, title, description, base, reference, document }) =>
      `<article><h2>${escapeHtml(title)}</h2><p>${escapeHtml(description)}</p>` +
      `<p><code>${escapeHtml(base)}</code></p>` +
      `<p>${link(reference, 'API reference', `API reference of ${name}`)}` +
      `${link(document, 'OpenAPI document', `OpenAPI document of ${name}`)}</p></article>`,
  );
  return {
    title: 'Plinth',
    policy: ["style-src 'unsafe-inline'"],
    body:
      `<style>${style}</style><main><h1>Plinth</h1><p>Platform services, described by their contracts.</p>` +
      `${articles.join('')}<p>This server: ${[['/openapi.json', 'OpenAPI document of all'] as const, ...own].map(([href, text]) => link(href, text)).join('')}</p></main>`,
  };
}

/** `label` is for screen readers, which read links out of context. */
const link = (href: string, text: string, label = text) =>
  `<a href="${escapeHtml(href)}" aria-label="${escapeHtml(label)}">${escapeHtml(text)}</a>`;
