import { type Markup, markup } from '../../../http/html.ts';
import type { PageView } from './layout.ts';
import { button, form } from './parts.ts';
import type { InteractionFrame } from './signin-page.ts';

export interface ConsentPage extends InteractionFrame {
  /** By what people know the account. */
  readonly account: string;
  readonly scopes: readonly string[];
}

/** What the scopes of OpenID Connect let a client do, in words. */
const meanings: Readonly<Record<string, string>> = {
  openid: 'Know which account is yours',
  profile: 'See your name, username and picture',
  email: 'See your email address',
  phone: 'See your phone number',
  offline_access: 'Keep its access while you are away',
};

export const consentPage = ({ paths, csrf, clientName, account, scopes }: ConsentPage): PageView => ({
  title: `Allow ${clientName}?`,
  body: markup`<h1>Allow ${clientName}?</h1>
<p class="lead">${clientName} asks for access to your account.</p>
<div class="account"><strong>${account}</strong><a href="${paths.page}?switch_account=true">Use another account</a></div>
<h2>It will be able to</h2>
<ul class="scopes">${scopes.map(scopeItem)}</ul>
<div class="pair">${form(paths.abort, csrf, button('Deny', 'plain'))}${form(paths.consent, csrf, button('Allow'))}</div>`,
});

/** The scopes that an app names itself are shown as they are: nobody else knows what they mean. */
const scopeItem = (scope: string): Markup =>
  markup`<li>${meanings[scope] ?? markup`Use the right <code>${scope}</code>`}</li>`;
