import type { FirstCall } from './first-call.ts';
import { type Hole, type HtmlPage, type Markup, markup } from './html.ts';
import type { DeveloperLink, Start } from './start.ts';
import { startStyle } from './start-style.ts';

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

/** A path of the server itself, and the text of its link. */
export type OwnLink = readonly [href: string, text: string];

/** The page at the server's address: how somebody new begins, which services run here, and where their documentation is. */
export const indexPage = (
  services: readonly IndexEntry[],
  own: readonly OwnLink[],
  start: Start | undefined,
  call: FirstCall | undefined,
): HtmlPage => ({
  title: 'Plinth',
  policy: ["style-src 'unsafe-inline'"],
  head: `<meta name="color-scheme" content="light dark"><style>${startStyle}</style>`,
  isPrivate: start !== undefined && start.links.length > 0,
  body: String(markup`<main>
<header><p class="mark" aria-hidden="true"><i></i><i></i><i></i></p><div><h1>Plinth</h1>
<p>Platform services, described by their contracts.</p></div>${start && status(start)}</header>
${start && steps(start, call)}
<section aria-labelledby="services"><h2 id="services">Services</h2>
<div class="services">${services.map(article)}</div></section>
<footer><h2>This server</h2><p>${[['/openapi.json', 'OpenAPI document of all services'] as const, ...own].map(ownLink)}</p></footer>
</main>`),
});

const status = ({ ready }: Start): Markup =>
  ready
    ? markup`<p class="status">Ready</p>`
    : markup`<p class="status problem">Not ready: the database does not answer</p>`;

/** What somebody does first who has just started the server. */
const steps = ({ anonymous, address, links }: Start, call: FirstCall | undefined): Markup => {
  const all = [
    anonymous
      ? step('Skip the token', 'Requests without credentials act as root on this server.')
      : step(
          'Get the root token',
          'Run this in the folder of the project. The token may do everything, so keep it out of browsers.',
          markup`<pre tabindex="0">export PLINTH_ROOT_TOKEN=$(npx plinth token)</pre>`,
        ),
    call &&
      step(
        'Make a first call',
        `The call ${call.summary.charAt(0).toLowerCase()}${call.summary.slice(1)}.`,
        markup`<pre tabindex="0">${curl(address, call, anonymous)}</pre>`,
      ),
    ...links.map(linkStep),
    step(
      'Go on from here',
      'The documentation introduces every service in five minutes, and explains what they have in common.',
      markup`<p><a class="button" href="/docs/">Read the documentation</a></p>`,
    ),
  ];
  return markup`<section aria-labelledby="steps"><h2 id="steps">First steps</h2><ol class="steps">${all}</ol></section>`;
};

const step = (title: string, text: string, more?: Markup): Markup =>
  markup`<li><h3>${title}</h3><p>${text}</p>${more}</li>`;

const linkStep = ({ href, text, description }: DeveloperLink): Markup =>
  step('Read what users are sent', description, markup`<p><a class="button" href="${href}">${text}</a></p>`);

const curl = (address: string, { path }: FirstCall, anonymous: boolean): string =>
  anonymous
    ? `curl ${address}${path}`
    : `curl ${address}${path} \\\n  -H "Authorization: Bearer $PLINTH_ROOT_TOKEN"`;

const article = ({ name, title, description, base, reference, document }: IndexEntry): Markup =>
  markup`<article><h3>${title}</h3><p>${withCode(description)}</p>
${base !== '/' && markup`<p class="base"><code>${base}</code></p>`}
<p class="links">${link(reference, 'API reference', `API reference of ${name}`)}${link(document, 'OpenAPI document', `OpenAPI document of ${name}`)}</p></article>`;

/** The text of a contract, whose code stands between backticks. */
const withCode = (text: string): readonly Hole[] =>
  text.split('`').map((part, at) => (at % 2 === 0 ? part : markup`<code>${part}</code>`));

const ownLink = ([href, text]: OwnLink): Markup => link(href, text.charAt(0).toUpperCase() + text.slice(1));

/** `label` is for screen readers, which read links out of context. */
const link = (href: string, text: string, label = text): Markup =>
  markup`<a href="${href}" aria-label="${label}">${text}</a>`;
