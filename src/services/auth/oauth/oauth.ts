import type { OAuth } from '../../../../generated/auth/server.ts';
import type { PushedAuthorizationReceipt, TokenResponse } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { presentedClient } from './client-authentication.ts';
import { Invalid } from '../../../lib/errors.ts';
import type { Deps } from './access/deps.ts';
import { slowedDown } from './device-polling.ts';
import { requestedScopes, scopesForItself } from '../roles/granted-scopes.ts';
import { introspect } from './introspection.ts';
import { answerBrowser, answerProgram } from './oauth-answers.ts';
import type { OidcProvider } from './oidc-provider.ts';
import { formOf } from './oidc-requests.ts';
import { revoke } from './token-revocation.ts';
import { userinfo } from './userinfo.ts';

/** The URL length that browsers and proxies reliably accept. */
const longestLocation = 8_192;

export type OAuthDeps = Deps & { readonly oidc: OidcProvider };

/** OAuth: the endpoints of the OAuth 2.0 and OpenID Connect provider. */
export const oauth = (deps: OAuthDeps) => {
  const { oidc, limits, issuer, oauthClients } = deps;

  async function page(context: Context, path: string, form?: object): Promise<string> {
    const request = form
      ? ({ method: 'POST', path, form: { ...form }, page: true } as const)
      : ({ method: 'GET', path, page: true } as const);
    return answerBrowser(context, await oidc.ask(request, context));
  }

  return {
    async authorize(request, context) {
      // A pushed request already has its scopes.
      const asked =
        request.request_uri === undefined ? await withScopes(deps, request, request.client_id) : request;
      return page(context, `/oauth2/authorize?${formOf(asked)}`);
    },

    // Forms of other sites do not send the session cookie, but the redirect that follows does.
    async postAuthorize({ body }, { reply }) {
      if (!(await oauthClients.find(body.client_id))) throw Invalid('client_id: no such client');
      const location = `${issuer}/oauth2/authorize?${formOf(body)}`;
      if (location.length > longestLocation)
        throw Invalid('the request is too long for an address: push it to /oauth2/par first');
      reply.status(303);
      reply.header('location', location);
      return '';
    },

    async resume({ uid }, context) {
      return page(context, `/oauth2/authorize/${uid}`);
    },

    async token({ body, DPoP: proof }, context) {
      await limits.take('token', context.ip);
      const slowed = await slowedDown(deps, body);
      if (slowed) return answerProgram<TokenResponse>(context, slowed, issuer);
      const form = body.grant_type === 'client_credentials' ? await forItself(deps, body, context) : body;
      const answer = await oidc.ask({ method: 'POST', path: '/oauth2/token', form, proof }, context);
      return answerProgram<TokenResponse>(context, answer, issuer);
    },

    async par({ body, DPoP: proof }, context) {
      await limits.take('token', context.ip);
      const client_id = presentedClient(context, body)?.id ?? body.client_id;
      const form = await withScopes(deps, client_id === undefined ? body : { ...body, client_id }, client_id);
      const answer = await oidc.ask({ method: 'POST', path: '/oauth2/par', form, proof }, context);
      return answerProgram<PushedAuthorizationReceipt>(context, answer, issuer);
    },

    async introspect({ body }, context) {
      await limits.take('introspect', context.ip);
      return introspect(deps, body, context);
    },

    async revoke({ body }, context) {
      await revoke(deps, body, context);
    },

    async userinfo({ DPoP: proof }, context) {
      await limits.take('introspect', context.ip);
      return userinfo(deps, { method: 'GET', proof, sent: undefined }, context);
    },

    async postUserinfo({ body, DPoP: proof }, context) {
      await limits.take('introspect', context.ip);
      return userinfo(deps, { method: 'POST', proof, sent: body?.access_token }, context);
    },

    logout: async (request, context) => page(context, `/oauth2/logout?${formOf(request)}`),

    // This differs from GET only in that a form from another site comes without the session cookie.
    postLogout: async ({ body }, context) => page(context, `/oauth2/logout?${formOf(body)}`),

    async confirmLogout({ body }, context) {
      return page(context, '/oauth2/logout/confirm', body);
    },

    loggedOut: async (request, context) => page(context, `/oauth2/logout/success?${formOf(request)}`),
  } satisfies OAuth<Context>;
};

/** Reduces the requested scopes to those that the client may have. */
async function withScopes<Asked extends { scope?: string | undefined }>(
  { oauthClients }: Pick<Deps, 'oauthClients'>,
  asked: Asked,
  clientId: string | undefined,
): Promise<Asked> {
  const client = clientId === undefined ? undefined : await oauthClients.find(clientId);
  return client ? { ...asked, scope: requestedScopes(asked.scope, client.scopes) } : asked;
}

/** A client that requests no scope gets all that it may have without a user. */
async function forItself<Body extends { scope?: string | undefined; client_id?: string | undefined }>(
  { oauthClients }: Pick<Deps, 'oauthClients'>,
  body: Body,
  context: Context,
): Promise<Body> {
  if (body.scope !== undefined) return body;
  const id = presentedClient(context, body)?.id;
  const client = id === undefined ? undefined : await oauthClients.find(id);
  const scope = client && scopesForItself(client.scopes).join(' ');
  return scope ? { ...body, scope } : body;
}
