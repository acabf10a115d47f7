import type { RevocationRequest } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import type { AccessClaims } from './access/access-claims.ts';
import { presentedClient } from './client-authentication.ts';
import { recordId } from './issued-tokens.ts';
import { endGrant } from './oauth-grants.ts';
import type { OAuthDeps } from './oauth.ts';
import { isSecretOf } from './oidc-provider.ts';
import { oidcStore } from '../directory/oidc.store.ts';
import { sha256 } from '../directory/tokens.ts';

/**
 * Ends a token with its grant and the grant's other tokens, whoever sends it: any holder of a token may end it. Foreign and
 * expired tokens need no revocation.
 */
export async function revoke(
  deps: OAuthDeps,
  body: RevocationRequest | undefined,
  context: Context,
): Promise<void> {
  if (body?.token === undefined) return;
  const claims = await deps.accessTokens.signed(body.token);
  const found = claims ? ofAccessToken(claims) : await ofRefreshToken(deps, body.token);
  const client = found && (await deps.oauthClients.find(found.clientId));
  if (!client) return;
  const authenticated = await isAuthenticated(deps, body, context, client.id);
  await deps.write({ tenant: client.tenant, app: client.app, actor: client.id }, async (tx) => {
    if (found.grantId !== undefined) {
      await endGrant(tx, found.grantId);
      const data = { user_id: found.userId, client_id: client.id, client_authenticated: authenticated };
      tx.emit('auth.consent.revoked', client.id, data);
    } else {
      await oidcStore(tx.sql).delete('ClientCredentials', sha256(recordId(found.jti)));
      tx.changed('token', found.jti);
    }
  });
}

type FoundToken =
  | {
      readonly clientId: string;
      readonly userId: string;
      readonly grantId: string;
    }
  | { readonly clientId: string; readonly grantId?: undefined; readonly jti: string };

const ofAccessToken = ({ client, user, grant, id }: AccessClaims): FoundToken =>
  grant === null || user === null
    ? { clientId: client, jti: id }
    : { clientId: client, userId: user, grantId: grant };

/** A refresh token that was already used counts, too: its holder has had a token of the grant. */
async function ofRefreshToken({ db }: Pick<OAuthDeps, 'db'>, token: string): Promise<FoundToken | undefined> {
  const found = await oidcStore(db.sql).find('RefreshToken', sha256(token));
  if (!found) return undefined;
  const { clientId, accountId, grantId } = found.payload as Record<string, string>;
  return { clientId: clientId!, userId: accountId!, grantId: grantId! };
}

async function isAuthenticated(
  { oauthClients, changes, oidc }: Pick<OAuthDeps, 'oauthClients' | 'changes' | 'oidc'>,
  body: RevocationRequest,
  context: Context,
  clientId: string,
): Promise<boolean> {
  const presented = presentedClient(context, body);
  if (presented?.id !== clientId) return false;
  const client = await oauthClients.find(clientId);
  if (client && presented.secret !== undefined) return isSecretOf(client, presented.secret, changes.clock);
  // The library verifies the client's JWT in a request that revokes nothing.
  const form = { ...body, token: '-' };
  const { status } = await oidc.ask({ method: 'POST', path: '/oauth2/revoke', form }, context);
  return status === 200;
}
