import type { Introspection, IntrospectionRequest } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { presentedClient } from './client-authentication.ts';
import { recordId } from './issued-tokens.ts';
import { answerProgram } from './oauth-answers.ts';
import type { OAuthDeps } from './oauth.ts';

/** An id that matches no token of ours. */
const nowhere = '-';

const opaqueForm = /^[\w-]{20,256}$/;

/**
 * Returns the state of a token. The library finds access tokens only by the id of their record, so a valid access token is
 * replaced by that id; no other input of a client can be such an id.
 */
export async function introspect(
  deps: OAuthDeps,
  body: IntrospectionRequest,
  context: Context,
): Promise<Introspection> {
  const { oidc, issuer } = deps;
  const client = presentedClient(context, body);
  const known = client && (await deps.oauthClients.find(client.id));
  // A client without a secret cannot authenticate.
  if (!known || known.public) return answerProgram(context, invalidClient, issuer);
  const claims = await deps.accessTokens.verify(body.token);
  const token = claims ? recordId(claims.id) : opaqueForm.test(body.token) ? body.token : nowhere;
  const form = { ...body, token };
  const answer = await oidc.ask({ method: 'POST', path: '/oauth2/introspect', form }, context);
  const said = answerProgram<Introspection>(context, answer, issuer);
  return said.active && claims ? { ...said, sub: claims.user ?? claims.client } : said;
}

const invalidClient = {
  status: 401,
  headers: {},
  body: JSON.stringify({ error: 'invalid_client', error_description: 'client authentication failed' }),
};
