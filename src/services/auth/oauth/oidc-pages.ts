import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Deps } from './access/deps.ts';
import type { KnownApp } from '../directory/directory.ts';
import { formActionSource, renderPage, type PageView } from '../views/layout.ts';
import { lookOf, plainLook } from '../look/look.ts';
import { formAnswerPage } from '../views/form-answer-page.ts';
import { loggedOutPage, logoutPage } from '../views/message-pages.ts';
import { homeOf, likelyApp, originOf } from '../views/origin.ts';

type PageDeps = Pick<Deps, 'db' | 'directory' | 'oauthClients'>;

/** Asks whether to sign out. The client chose the final redirect, and the library has checked it. */
export async function showLogout(deps: PageDeps, ctx: KoaContextWithOIDC): Promise<void> {
  const { client, params, session } = ctx.oidc;
  const { secret } = session!.state as { readonly secret: string };
  const target = params?.['post_logout_redirect_uri'];
  const source = typeof target === 'string' ? formActionSource(target) : undefined;
  const action = new URL(ctx.oidc.urlFor('end_session_confirm')).pathname;
  const view = logoutPage({ action, xsrf: secret, clientName: client?.clientName });
  await showInLook(deps, ctx, { ...view, leadsTo: source === undefined ? [] : [source] });
}

/** Says that the browser's session is over, or only that of the client. */
export async function showLoggedOut(deps: PageDeps, ctx: KoaContextWithOIDC): Promise<void> {
  const { client } = ctx.oidc;
  const app = await appOf(deps, ctx);
  const from =
    client === undefined
      ? (await originOf(deps, ctx.req.headers.cookie))?.client
      : await deps.oauthClients.find(client.clientId);
  const way = app && (await homeOf(deps, app, from));
  await showInLook(deps, ctx, loggedOutPage(client?.clientName, way));
}

const formAnswers = new WeakSet<object>();

/** Whether the page is a form that carries the response to the client. */
export const isFormAnswer = (ctx: object): boolean => formAnswers.has(ctx);

/** Sends the response to the client as a form (OAuth 2.0 Form Post Response Mode). */
export async function showFormAnswer(
  deps: PageDeps,
  ctx: KoaContextWithOIDC,
  to: string,
  answer: Readonly<Record<string, unknown>>,
): Promise<void> {
  const fields = Object.entries(answer).map(([name, value]) => [name, String(value)] as const);
  await showInLook(deps, ctx, formAnswerPage(to, fields, ctx.oidc.client?.clientName));
  // Errors are also sent to the client, so the page itself succeeds.
  ctx.status = 200;
  formAnswers.add(ctx);
}

/** The app of the client, if the client is known; otherwise the likely one. */
async function appOf(deps: PageDeps, ctx: KoaContextWithOIDC): Promise<KnownApp | undefined> {
  const id = ctx.oidc.client?.clientId;
  const client = id === undefined ? undefined : await deps.oauthClients.find(id);
  return client ? deps.directory.app(client.app) : likelyApp(deps, ctx.req.headers.cookie);
}

/** Renders a page in the look of the app that it belongs to. */
export async function showInLook(deps: PageDeps, ctx: KoaContextWithOIDC, view: PageView): Promise<void> {
  const app = await appOf(deps, ctx);
  const look = app ? await lookOf(deps.db.sql, app, null) : plainLook('Plinth');
  const { headers, body } = renderPage(view, look);
  ctx.set(headers);
  ctx.type = 'html';
  ctx.body = body;
}
