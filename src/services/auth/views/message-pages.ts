import { type Markup, markup } from '../../../http/html.ts';
import type { DomainError, ErrorKind } from '../../../lib/errors.ts';
import { pictures } from './icons.ts';
import type { PageView } from './layout.ts';
import { button, hidden, wayOn, type WayOn } from './parts.ts';
import { waiting } from './problems.ts';

/** What stands around the text of a page that says how something ended. */
interface EndOfPage {
  readonly picture: Markup;
  readonly hint?: Markup;
  readonly way: WayOn | undefined;
}

/** A page that says how something ended, and leads on if there is somewhere to go. */
export const endPage = (
  title: string,
  text: Markup | string,
  { picture, way, hint }: EndOfPage,
): PageView => ({
  title,
  body: markup`${picture}<h1>${title}</h1>
<p class="said">${text}</p>
${
  hint !== undefined &&
  markup`<p class="said hint">${hint}</p>
`
}${wayOn(way)}`,
});

/** A page that explains why there is nothing else to see. `detail` is a technical description for troubleshooting. */
export const errorPage = (
  title: string,
  text: string,
  { detail, way }: { readonly detail?: string; readonly way?: WayOn | undefined } = {},
): PageView => ({
  title,
  body: markup`${pictures.problem}<h1>${title}</h1>
<p class="said">${text}</p>${
    detail !== undefined &&
    markup`
<p class="said hint"><code>${detail}</code></p>`
  }${way !== undefined && markup`\n${wayOn(way)}`}`,
});

const ownFaults: ReadonlySet<ErrorKind> = new Set([
  'internal',
  'unavailable',
  'storeUnavailable',
  'storeFull',
]);

/** What users are told about an error that no page expects. */
export function unexpectedPage({ kind, message, retryAfter }: DomainError, way?: WayOn): PageView {
  if (kind === 'rateLimited')
    return errorPage('Too many attempts', `Try again in ${waiting(retryAfter ?? 1)}.`);
  if (ownFaults.has(kind))
    return errorPage('Something went wrong', 'The problem is on our side. Try again in a moment.', { way });
  if (message.startsWith('csrf:'))
    return errorPage('This page is out of date', 'Go back, reload the page, and send the form again.', {
      ...{ detail: message, way },
    });
  if (kind === 'gone') return message.startsWith('interaction:') ? interactionGonePage(way) : gonePage(way);
  return errorPage('This request cannot be completed', 'Go back and try again.', { detail: message, way });
}

/** The link is no longer valid: used, replaced, expired or decided. */
export const gonePage = (way: WayOn | undefined): PageView =>
  endPage(
    'This link no longer works',
    'It has been used, it has expired, or a newer one has replaced it. Ask for a new one.',
    { picture: pictures.over, way },
  );

export const interactionGonePage = (way: WayOn | undefined): PageView =>
  endPage(
    'This sign-in has ended',
    'It was completed, it took too long, or it was started in another browser. Go back to where you came from and sign in again.',
    { picture: pictures.over, way },
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
<p class="lead">${clientName ? `${clientName} asks whether you want to sign out.` : 'Do you want to sign out?'}</p>
<form method="post" action="${action}">${hidden('xsrf', xsrf)}${hidden('logout', 'yes')}${button('Sign out')}</form>
<form method="post" action="${action}">${hidden('xsrf', xsrf)}${button('Stay signed in', 'quiet')}</form>`,
});

/** `clientName` is set if only that client's part of the session ended. */
export const loggedOutPage = (clientName: string | undefined, way: WayOn | undefined): PageView =>
  endPage(
    'You are signed out',
    clientName
      ? `${clientName} no longer has access to your account.`
      : 'Your session in this browser has ended.',
    { picture: pictures.done, way },
  );
