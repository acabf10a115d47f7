import { markup } from '../../../http/html.ts';
import type { DomainError, ErrorKind } from '../../../lib/errors.ts';
import type { PageView } from './layout.ts';
import { button, hidden } from './parts.ts';
import { waiting } from './problems.ts';

/** A page that explains why there is nothing else to see. `detail` is a technical description for troubleshooting. */
export const errorPage = (title: string, text: string, detail?: string): PageView => ({
  title,
  body: markup`<h1>${title}</h1>
<p>${text}</p>${
    detail !== undefined &&
    markup`
<p class="hint"><code>${detail}</code></p>`
  }`,
});

const ownFaults: ReadonlySet<ErrorKind> = new Set([
  'internal',
  'unavailable',
  'storeUnavailable',
  'storeFull',
]);

/** What users are told about an error that no page expects. */
export function unexpectedPage({ kind, message, retryAfter }: DomainError): PageView {
  if (kind === 'rateLimited') return errorPage('Too many tries', `Try again in ${waiting(retryAfter ?? 1)}.`);
  if (ownFaults.has(kind))
    return errorPage('Something went wrong', 'It is not your fault. Try again in a moment.');
  if (message.startsWith('csrf:'))
    return errorPage('This page is out of date', 'Go back, load it again, and send it once more.', message);
  if (kind === 'gone') return message.startsWith('interaction:') ? interactionGonePage() : gonePage();
  return errorPage('This request cannot be carried out', 'Go back and try again.', message);
}

/** The link is no longer valid: used, replaced, expired or decided. */
export const gonePage = (): PageView =>
  errorPage(
    'This link is no longer good',
    'It was used, replaced by a newer one, or it has expired. Ask for a new one.',
  );

export const interactionGonePage = (): PageView =>
  errorPage(
    'This sign-in is over',
    'It was finished, it took too long, or it began in another browser. Go back to where you came from and sign in again.',
  );

export interface LogoutPage {
  /** The target of the decision form. */
  readonly action: string;
  /** The provider's token against forged requests, which the form sends back. */
  readonly xsrf: string;
  /** The client that asks for the sign-out, if known. */
  readonly clientName?: string | undefined;
}

/** Asks whether to end the browser's session. */
export const logoutPage = ({ action, xsrf, clientName }: LogoutPage): PageView => ({
  title: 'Sign out?',
  body: markup`<h1>Sign out?</h1>
<p class="lead">${clientName ? `${clientName} asks you to sign out.` : 'Do you want to sign out?'}</p>
<form method="post" action="${action}">${hidden('xsrf', xsrf)}${hidden('logout', 'yes')}${button('Sign out')}</form>
<form method="post" action="${action}">${hidden('xsrf', xsrf)}${button('Stay signed in', 'plain')}</form>`,
});

/** `clientName` is set if only that client's part of the session ended. */
export const loggedOutPage = (clientName?: string): PageView => ({
  title: 'You are signed out',
  body: markup`<h1>You are signed out</h1>
<p>${clientName ? `${clientName} has no access any more. ` : ''}You can close this page.</p>`,
});
