import type { OAuth } from '../../../generated/auth/server.ts';
import type { PushedAuthorizationReceipt, TokenResponse } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import { presentedClient } from './client-authentication.ts';
import type { Deps } from './deps.ts';
import { requestedScopes, scopesForItself } from './granted-scopes.ts';
import { introspect } from './introspection.ts';
import { answerBrowser, answerProgram } from './oauth-answers.ts';
import type { OidcProvider } from './oidc-provider.ts';
import { revoke } from './token-revocation.ts';
import { userinfo } from './userinfo.ts';

export type OAuthDeps = Deps & { readonly oidc: OidcProvider };

/** OAuth: the endpoints of the OAuth 2.0 and OpenID Connect provider. */
export const oauth = (deps: OAuthDeps) => {
  const { oidc, limits, issuer, oauthClients } = deps;

  /** The scopes that a client asks for, of those that it may have. */
  async function withScopes<Asked extends { scope?: string | undefined }>(
    asked: Asked,
    clientId: string | undefined,
  ): Promise<Asked> {
    const client = clientId === undefined ? undefined : await oauthClients.find(clientId);
    return client ? { ...asked, scope: requestedScopes(asked.scope, client.scopes) } : asked;
  }

  /** All that the client may have without a user, where it does not say what it wants. */
  async function forItself<Body extends { scope?: string | undefined; client_id?: string | undefined }>(
    body: Body,
    context: Context,
  ): Promise<Body> {
    if (body.scope !== undefined) return body;
    const id = presentedClient(context, body)?.id;
    const client = id === undefined ? undefined : await oauthClients.find(id);
    const scope = client && scopesForItself(client.scopes).join(' ');
    return scope ? { ...body, scope } : body;
  }

  async function page(context: Context, path: string, form?: object): Promise<string> {
    const request = form
      ? ({ method: 'POST', path, form: { ...form }, page: true } as const)
      : ({ method: 'GET', path, page: true } as const);
    return answerBrowser(context, await oidc.ask(request, context));
  }

  return {
    async authorize(request, context) {
      // What was pushed has its scopes already.
      const asked =
        request.request_uri === undefined ? await withScopes(request, request.client_id) : request;
      return page(context, `/oauth2/authorize?${queryOf(asked)}`);
    },

    async resume({ uid }, context) {
      return page(context, `/oauth2/authorize/${uid}`);
    },

    async token({ body }, context) {
      await limits.take('token', context.ip);
      const form = body.grant_type === 'client_credentials' ? await forItself(body, context) : body;
      const answer = await oidc.ask({ method: 'POST', path: '/oauth2/token', form }, context);
      return answerProgram<TokenResponse>(context, answer, issuer);
    },

    async par({ body }, context) {
      await limits.take('token', context.ip);
      const client_id = presentedClient(context, body)?.id ?? body.client_id;
      const form = await withScopes(client_id === undefined ? body : { ...body, client_id }, client_id);
      const answer = await oidc.ask({ method: 'POST', path: '/oauth2/par', form }, context);
      return answerProgram<PushedAuthorizationReceipt>(context, answer, issuer);
    },

    async introspect({ body }, context) {
      await limits.take('introspect', context.ip);
      return introspect(deps, body, context);
    },

    async revoke({ body }, context) {
      await revoke(deps, body, context);
    },

    async userinfo(_request, context) {
      await limits.take('introspect', context.ip);
      return userinfo(deps, undefined, context);
    },

    async postUserinfo({ body }, context) {
      await limits.take('introspect', context.ip);
      return userinfo(deps, body?.access_token, context);
    },

    logout: async (request, context) => page(context, `/oauth2/logout?${queryOf(request)}`),

    // A form from elsewhere comes without the session's cookie, so that is all that sets the two apart.
    postLogout: async ({ body }, context) => page(context, `/oauth2/logout?${queryOf(body)}`),

    async confirmLogout({ body }, context) {
      return page(context, '/oauth2/logout/confirm', body);
    },

    loggedOut: async (request, context) => page(context, `/oauth2/logout/success?${queryOf(request)}`),
  } satisfies OAuth<Context>;
};

const queryOf = (parameters: object): string =>
  new URLSearchParams(
    Object.entries(parameters).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  ).toString();
