import type { ErrorPage } from '../../http/failure.ts';
import { escapeHtml } from '../../http/html.ts';
import type { DomainError } from '../../lib/errors.ts';

/** Says what is wrong with a request of a browser that cannot be sent on. */
export const errorPage = ({ message }: DomainError): ErrorPage => ({
  headers: {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': pagePolicy(undefined),
    'Referrer-Policy': 'no-referrer',
  },
  body: page('Something is wrong', `<p>${escapeHtml(message)}</p>`),
});

/** Asks whether to sign out. `form` is the library's, without buttons; its id is `op.logoutForm`. */
export const logoutPage = (form: string): string =>
  page(
    'Sign out',
    `<p>Do you want to sign out?</p>${form}` +
      '<button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button> ' +
      '<button type="submit" form="op.logoutForm">Stay signed in</button>',
  );

/** Says that nobody is signed in any more. */
export const loggedOutPage = (client: string | undefined): string =>
  page('Signed out', `<p>You are signed out${client === undefined ? '' : ` of ${escapeHtml(client)}`}.</p>`);

/** Nothing from elsewhere, in no frame; forms lead here, and on to where the user is sent after the sign-out. */
export const pagePolicy = (target: string | undefined): string =>
  `default-src 'none'; form-action 'self'${target === undefined ? '' : ` ${originOf(target)}`}; ` +
  "frame-ancestors 'none'; base-uri 'none'";

/** Schemes of programs have no origin. */
const originOf = (target: string): string => {
  const { origin, protocol } = new URL(target);
  return origin === 'null' ? protocol : origin;
};

const page = (title: string, body: string): string =>
  '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
  '<meta name="viewport" content="width=device-width, initial-scale=1">' +
  `<title>${title}</title></head><body><main><h1>${title}</h1>${body}</main></body></html>\n`;
