import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Deps } from './deps.ts';
import { formActionSource, renderPage, type PageView } from './pages/layout.ts';
import { lookOf, plainLook } from './pages/look.ts';
import { errorPage, loggedOutPage, logoutPage } from './pages/message-pages.ts';

type PageDeps = Pick<Deps, 'db' | 'directory' | 'oauthClients'>;

/** Asks whether to sign out. Where that leads in the end is the client's, and was checked by the library. */
export async function showLogout(deps: PageDeps, ctx: KoaContextWithOIDC): Promise<void> {
  const { client, params, session } = ctx.oidc;
  const { secret } = session!.state as { readonly secret: string };
  const target = params?.['post_logout_redirect_uri'];
  const source = typeof target === 'string' ? formActionSource(target) : undefined;
  const action = new URL(ctx.oidc.urlFor('end_session_confirm')).pathname;
  const view = logoutPage({ action, xsrf: secret, clientName: client?.clientName });
  await show(deps, ctx, { ...view, leadsTo: source === undefined ? [] : [source] });
}

/** Says that the browser's session is over, or only that of the client. */
export const showLoggedOut = (deps: PageDeps, ctx: KoaContextWithOIDC): Promise<void> =>
  show(deps, ctx, loggedOutPage(ctx.oidc.client?.clientName));

/** Says what is wrong with a request that cannot be sent back to its client. */
export const showError = (
  deps: PageDeps,
  ctx: KoaContextWithOIDC,
  { error, error_description }: { readonly error: string; readonly error_description?: string | undefined },
): Promise<void> =>
  show(
    deps,
    ctx,
    errorPage(
      'This sign-in cannot go on',
      'Go back to where you came from and try again.',
      error_description ?? error,
    ),
  );

/** In the look of the client's app, where it is known. */
async function show(deps: PageDeps, ctx: KoaContextWithOIDC, view: PageView): Promise<void> {
  const id = ctx.oidc.client?.clientId;
  const client = id === undefined ? undefined : await deps.oauthClients.find(id);
  const app = client && (await deps.directory.app(client.app));
  const look = app ? await lookOf(deps.db.sql, app, null) : plainLook('Plinth');
  const { headers, body } = renderPage(view, look);
  ctx.set(headers);
  ctx.type = 'html';
  ctx.body = body;
}
