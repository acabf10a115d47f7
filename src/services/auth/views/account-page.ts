import { markup } from '../../../http/html.ts';
import type { PageView } from './layout.ts';
import { accountCard, button, form } from './parts.ts';
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
${accountCard(account, `${paths.page}?switch_account=true`)}
${form(paths.account, csrf, button('Continue'))}
${form(paths.abort, csrf, button('Cancel', 'quiet'))}`,
});
