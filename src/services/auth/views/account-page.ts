import { markup } from '../../../http/html.ts';
import type { PageView } from './layout.ts';
import { button, form } from './parts.ts';
import type { InteractionFrame } from './signin-page.ts';

export interface AccountPage extends InteractionFrame {
  /** The name by which people know the signed-in account. */
  readonly account: string;
}

/** Asks which account to continue with. */
export const accountPage = ({ paths, csrf, clientName, account }: AccountPage): PageView => ({
  title: 'Choose an account',
  body: markup`<h1>Choose an account</h1>
<p class="lead">to continue to ${clientName}</p>
<div class="account"><strong>${account}</strong><a href="${paths.page}?switch_account=true">Use another account</a></div>
${form(paths.account, csrf, button(`Continue as ${account}`))}
${form(paths.abort, csrf, button('Cancel', 'plain'))}`,
});
