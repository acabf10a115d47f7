import { type Markup, markup } from '../../../http/html.ts';
import type { PageView } from './layout.ts';
import { accountCard, button, form } from './parts.ts';
import { scopeList } from './scopes.ts';
import type { InteractionFrame } from './signin-page.ts';

export interface ConsentPage extends InteractionFrame {
  /** The name by which people know the account. */
  readonly account: string;
  readonly scopes: readonly string[];
  /** The logo of the client; null if it has none, or if nobody vouches for it. */
  readonly logo: string | null;
  /** The host or the scheme to which the client sends users; null for a device. */
  readonly leadsTo: string | null;
  /** Whether the client registered itself, so that nobody vouches for it. */
  readonly unverified: boolean;
}

export const consentPage = (shown: ConsentPage): PageView => {
  const { paths, csrf, clientName, account, scopes, logo, leadsTo, unverified } = shown;
  return {
    title: `Allow ${clientName}?`,
    beside: { name: clientName, logo },
    body: markup`<h1>Allow ${clientName}?</h1>
<p class="lead">${clientName}${leadsTo !== null && markup`, at <strong>${leadsTo}</strong>,`} asks for access to your account.</p>
${unverified && warning}
${accountCard(account, `${paths.page}?switch_account=true`)}
${scopeList(scopes)}
<div class="pair">${form(paths.abort, csrf, button('Deny', 'plain'))}${form(paths.consent, csrf, button('Allow'))}</div>`,
  };
};

const warning: Markup = markup`<p class="notice danger">This program registered itself, and nobody has checked its name. Continue only if you started this yourself and trust it.</p>`;
