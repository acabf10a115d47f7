import { type Markup, markup } from '../../../http/html.ts';
import type { PageView } from './layout.ts';
import { button, form } from './parts.ts';
import type { InteractionFrame } from './signin-page.ts';

export interface ConsentPage extends InteractionFrame {
  /** The name by which people know the account. */
  readonly account: string;
  readonly scopes: readonly string[];
  /** Set if nobody vouches for the client: the page then shows where it sends users. */
  readonly unverified?: { readonly leadsTo: string | null } | undefined;
}

/** What the scopes of OpenID Connect let a client do, in words. */
const meanings: Readonly<Record<string, string>> = {
  openid: 'Know which account is yours',
  profile: 'See your name, username and picture',
  email: 'See your email address',
  phone: 'See your phone number',
  offline_access: 'Keep its access while you are away',
};

export const consentPage = ({
  paths,
  csrf,
  clientName,
  account,
  scopes,
  unverified,
}: ConsentPage): PageView => ({
  title: `Allow ${clientName}?`,
  body: markup`<h1>Allow ${clientName}?</h1>
<p class="lead">${clientName} asks for access to your account.</p>
${unverified && warning(unverified)}
<div class="account"><strong>${account}</strong><a href="${paths.page}?switch_account=true">Use another account</a></div>
<h2>It will be able to</h2>
<ul class="scopes">${scopes.map(scopeItem)}</ul>
<div class="pair">${form(paths.abort, csrf, button('Deny', 'plain'))}${form(paths.consent, csrf, button('Allow'))}</div>`,
});

const warning = ({ leadsTo }: { readonly leadsTo: string | null }): Markup =>
  markup`<p class="notice danger">This program registered itself, and nobody checked its name.${
    leadsTo !== null && markup` It sends you to <strong>${leadsTo}</strong>.`
  } Go on only if you began this yourself and trust it.</p>`;

/** Scopes that an app defines are shown as they are, because only the app knows their meaning. */
export const scopeItem = (scope: string): Markup =>
  markup`<li>${meanings[scope] ?? markup`Use the right <code>${scope}</code>`}</li>`;
