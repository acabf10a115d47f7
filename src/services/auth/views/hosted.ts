import type { Context } from '../../../http/context.ts';
import type { Deps } from '../factors/deps.ts';
import type { Visit } from '../directory/visit.ts';
import type { KnownApp } from '../directory/directory.ts';
import { visitOf } from '../signin/signin.ts';
import { clearCookie, cookieOf, setCookie } from './cookies.ts';
import { createCsrf } from './csrf.ts';
import type { PageView } from './layout.ts';
import { lookOf } from '../look/look.ts';
import { originCookie } from './origin.ts';
import { answerPage } from './page-answer.ts';
import type { Problems } from './problems.ts';

/** The app or organization that a page belongs to. */
export interface Owner {
  readonly app: KnownApp;
  readonly orgId: string | null;
}

export interface Extras {
  readonly problems?: Problems | undefined;
  readonly cookies?: readonly string[];
}

/** The shared tools of all hosted pages. */
export interface Hosted {
  /** Returns the path of a page as browsers see it. */
  readonly path: (page: string) => string;
  /** Renders a page with a form about the subject, to which `check` then binds it. */
  show(
    context: Context,
    owner: Owner,
    subject: string,
    view: (csrf: string) => PageView,
    extras?: Extras,
  ): Promise<string>;
  /** Renders a page without a form. */
  say(context: Context, owner: Owner, view: PageView, extras?: Extras): Promise<string>;
  /** @throws Invalid if the form is not from a page about the subject that this browser was shown */
  check(context: Context, subject: string, csrf: string): void;
  /** Returns the origin of a request, with the device token if the browser signed in before. */
  visit(context: Context): Visit;
  /** Returns the cookie by which the browser remembers the sign-in that it began. */
  originCookie(clientId: string, uid: string): string;
  /** Returns the cookies by which the browser is recognised as the device; none for a known device. */
  deviceCookies(deviceToken: string | undefined): string[];
  /** The sign-in that waits for its second factor, kept in a cookie of one page only. */
  readonly challenge: {
    of(context: Context): string | undefined;
    keep(page: string, token: string): string;
    forget(page: string): string;
  };
}

const challengeCookie = 'plinth_challenge';
const deviceCookie = 'plinth_device';
const year = 365 * 24 * 3_600;
/** The lifetime of a challenge. */
const challengeSeconds = 300;

export function createHosted({ db, sealer, issuer }: Pick<Deps, 'db' | 'sealer' | 'issuer'>): Hosted {
  const { pathname, protocol } = new URL(issuer);
  const base = pathname.replace(/\/$/, '');
  const secure = protocol === 'https:';
  const everywhere = { path: base || '/', secure };
  const csrf = createCsrf(sealer, everywhere);
  const path = (page: string) => `${base}${page}`;

  async function say(
    { reply }: Context,
    { app, orgId }: Owner,
    view: PageView,
    { problems, cookies = [] }: Extras = {},
  ): Promise<string> {
    const status = problems?.status ?? 200;
    const look = await lookOf(db.sql, app, orgId);
    return answerPage(reply, view, look, { status, cookies, retryAfter: problems?.retryAfter });
  }

  return {
    path,
    say,
    show(context, owner, subject, view, extras = {}) {
      const issued = csrf.issue(context.cookie, subject);
      const cookies = [...issued.cookies, ...(extras.cookies ?? [])];
      return say(context, owner, view(issued.csrf), { ...extras, cookies });
    },
    check: ({ cookie }, subject, given) => csrf.check(cookie, subject, given),
    visit: (context) => visitOf(context, cookieOf(context.cookie, deviceCookie)),
    originCookie: (clientId, uid) => originCookie(everywhere, clientId, uid),
    deviceCookies: (value) =>
      value === undefined
        ? []
        : [setCookie({ ...everywhere, name: deviceCookie, value, maxAgeSeconds: year })],
    challenge: {
      of: ({ cookie }) => cookieOf(cookie, challengeCookie),
      keep: (page, value) =>
        setCookie({
          name: challengeCookie,
          value,
          path: path(page),
          secure,
          maxAgeSeconds: challengeSeconds,
        }),
      forget: (page) => clearCookie(challengeCookie, { path: path(page), secure }),
    },
  };
}
