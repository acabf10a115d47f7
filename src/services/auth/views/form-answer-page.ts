import { markup } from '../../../http/html.ts';
import { formActionSource, type PageView } from './layout.ts';
import { button, hidden } from './parts.ts';

/**
 * Sends the response to a client as a form. The page's one allowed script submits it; without scripts the user presses the
 * button. The page's policy does not restrict where the client then redirects the browser.
 */
export const formAnswerPage = (
  to: string,
  fields: readonly (readonly [name: string, value: string])[],
  clientName: string | undefined,
): PageView => ({
  title: 'Continue',
  body: markup`<h1>Continue</h1>
<p class="lead">You are being returned to ${clientName ?? 'where you came from'}.</p>
<form method="post" action="${to}">${fields.map(([name, value]) => hidden(name, value))}${button('Continue')}</form>`,
  leadsTo: ['http:', 'https:', formActionSource(to)].filter((source) => source !== undefined),
  script: 'document.forms[0].submit()',
});
