import { randomBytes } from 'node:crypto';
import { Invalid } from '../../../lib/errors.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { cookieOf, setCookie, type CookieScope } from './cookies.ts';

const cookieName = 'plinth_pages';
const purpose = 'auth/csrf/v1';
const cookieForm = /^[A-Za-z0-9_-]{32}$/;

/** A token that lets only its own page submit a form: it is bound to the browser by a cookie, and to the subject of the page. */
export interface Csrf {
  /** `cookies` must be set in the browser; empty if it has them already. */
  issue(header: string | undefined, subject: string): { readonly csrf: string; readonly cookies: string[] };
  /** @throws Invalid if another page, another browser or another site sent the form */
  check(header: string | undefined, subject: string, given: string): void;
}

export function createCsrf(sealer: Sealer, scope: CookieScope): Csrf {
  const boundTo = (subject: string, cookie: string) => `${subject}\0${cookie}`;
  const mac = (subject: string, cookie: string) =>
    sealer.mac(purpose, '', boundTo(subject, cookie)).toString('base64url');
  const known = (header: string | undefined) => {
    const cookie = cookieOf(header, cookieName);
    return cookie !== undefined && cookieForm.test(cookie) ? cookie : undefined;
  };
  return {
    issue(header, subject) {
      const cookie = known(header);
      if (cookie !== undefined) return { csrf: mac(subject, cookie), cookies: [] };
      const value = randomBytes(24).toString('base64url');
      return { csrf: mac(subject, value), cookies: [setCookie({ ...scope, name: cookieName, value })] };
    },
    check(header, subject, given) {
      const cookie = known(header);
      const presented = Buffer.from(given, 'base64url');
      if (cookie === undefined || !sealer.verifies(purpose, '', boundTo(subject, cookie), presented))
        throw Invalid('csrf: does not belong to this page');
    },
  };
}
