import type { Deps } from '../apps/deps.ts';
import { clientStore } from '../apps/clients.store.ts';
import { shownName } from '../apps/client-metadata.ts';
import type { OAuthClient } from '../apps/oauth-clients.ts';
import type { KnownApp } from '../directory/directory.ts';
import { cookieOf, setCookie, type CookieScope } from './cookies.ts';
import { lookOf } from '../look/look.ts';
import type { WayOn } from './parts.ts';

type OriginDeps = Pick<Deps, 'db' | 'directory' | 'oauthClients'>;

/** The sign-in that this browser began last: it tells whose look a page has that knows no more, and where the page leads. */
export interface Origin {
  readonly client: OAuthClient;
  readonly app: KnownApp;
  /** The id of the interaction, which may be over. */
  readonly uid: string;
}

const name = 'plinth_origin';
const form = /^(client_[0-9a-z]{26})\.([A-Za-z0-9_-]{1,64})$/;

/** Remembers the sign-in until the browser is closed. */
export const originCookie = (scope: CookieScope, clientId: string, uid: string): string =>
  setCookie({ ...scope, name, value: `${clientId}.${uid}` });

/** Returns the sign-in that the browser remembers, if its client still exists. `cookie` is the header of the request. */
export async function originOf(
  { directory, oauthClients }: Pick<OriginDeps, 'directory' | 'oauthClients'>,
  cookie: string | undefined,
): Promise<Origin | undefined> {
  const [, clientId = '', uid = ''] = form.exec(cookieOf(cookie, name) ?? '') ?? [];
  const client = await oauthClients.find(clientId);
  const app = client && (await directory.app(client.app));
  return app && { client, app, uid };
}

/** The app whose look a page has that belongs to none: the one of the browser's last sign-in, otherwise the first of the installation. */
export const likelyApp = async (
  deps: Pick<OriginDeps, 'directory' | 'oauthClients'>,
  cookie: string | undefined,
): Promise<KnownApp | undefined> =>
  (await originOf(deps, cookie))?.app ?? (await deps.directory.app('default'));

/**
 * Where a page of the app leads on which there is nothing left to do: to the client that the user came from, otherwise to the app's own
 * address, otherwise to the app's only client. Nobody vouches for a client that registered itself, so no page leads there.
 */
export async function homeOf(
  deps: OriginDeps,
  app: KnownApp,
  client: OAuthClient | undefined,
): Promise<WayOn | undefined> {
  const { db } = deps;
  const home = client?.app === app.id ? homeOfClient(client) : undefined;
  if (home !== undefined) return home;
  const { home_url } = app.settings;
  if (home_url) return { href: home_url, text: `Continue to ${(await lookOf(db.sql, app, null)).name}` };
  const only = await clientStore(db.sql).onlyOf(app.tenant, app.id);
  const known = only === undefined ? undefined : await deps.oauthClients.find(only);
  return known && homeOfClient(known);
}

function homeOfClient(client: OAuthClient): WayOn | undefined {
  if (client.self_registered) return undefined;
  const site = client.redirect_uris
    .map((uri) => URL.parse(uri))
    .find((url) => /^https?:$/.test(url?.protocol ?? ''));
  return site ? { href: `${site.origin}/`, text: `Continue to ${shownName(client)}` } : undefined;
}
