/** The interactive reference of a service: Scalar, without a CDN. */
import { escapeHtml, type HtmlPage, markup } from '../html.ts';

export interface Reference {
  /** The name of the service. */
  readonly name: string;
  readonly title: string;
  /** Paths on this server. */
  readonly document: string;
  readonly bundle: string;
}

/** The page of a service in the static reference, which needs no scripts. */
export const staticReference = (name: string): string => `/docs/reference/${name}/`;

const style = `
  :root { color-scheme: light dark; --scalar-custom-header-height: 3rem }
  body { margin: 0; font: 15px/1.5 system-ui, sans-serif }
  .bar { display: flex; gap: 1.25rem; align-items: center; box-sizing: border-box; height: 3rem; padding: 0 1.25rem;
    position: sticky; top: 0; z-index: 100; background: Canvas; border-bottom: 1px solid #8884; white-space: nowrap; overflow-x: auto }
  .bar a { color: inherit; text-decoration: none; padding: .5rem 0 } .bar a:hover { text-decoration: underline }
  .bar a:first-child { font-weight: 650 } .bar a:first-child { margin-right: auto }
  noscript p { max-width: 40rem; margin: 3rem auto; padding: 0 1.25rem }
`;

/**
 * Scalar mounts itself on the first script element. It loads nothing from other servers and sends nothing to them, so its hosted
 * features (sharing, deploying, an assistant, an API client) are switched off.
 */
export function referencePage({ name, title, document, bundle }: Reference): HtmlPage {
  const configuration = {
    url: document,
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
  };
  return {
    title,
    policy: [
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      "font-src 'self' data:",
      "connect-src 'self'",
    ],
    body:
      `<style>${style}</style>` +
      markup`<nav class="bar" aria-label="Plinth"><a href="/">Plinth</a><a href="/docs/">Documentation</a><a href="${staticReference(name)}">Static reference</a></nav>
<noscript><p>The interactive reference of ${title} needs scripts. The <a href="${staticReference(name)}">static reference</a> describes the same operations without them.</p></noscript>`.toString() +
      `<script id="api-reference" data-configuration="${escapeHtml(JSON.stringify(configuration))}"></script>` +
      `<script src="${escapeHtml(bundle)}"></script>`,
  };
}

/** The page in place of the documentation where it is not built. */
export const notBuiltPage: HtmlPage = {
  title: 'The documentation is not built',
  policy: ["style-src 'unsafe-inline'"],
  body:
    '<style>:root { color-scheme: light dark } body { font: 16px/1.6 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1.25rem }</style>' +
    markup`<main><h1>The documentation is not built</h1>
<p>This server has no built documentation. In the folder of the project, <code>npm run docs</code> builds it within a minute; then this page shows it, without a restart. The command needs the development dependencies, which <code>npm ci</code> installs.</p>
<p>The guides are also in the folder <code>docs</code>, and the contract is at <a href="/openapi.json">/openapi.json</a>.</p>
<p><a href="/">Back to the start page</a></p></main>`.toString(),
};
