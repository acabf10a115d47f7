import type { RevocationRequest } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import type { AccessClaims } from './access-claims.ts';
import { presentedClient } from './client-authentication.ts';
import type { Deps } from './deps.ts';
import { recordId } from './issued-tokens.ts';
import { endGrant } from './oauth-grants.ts';
import { isSecretOf } from './oidc-provider.ts';
import { oidcStore } from './oidc.store.ts';
import { sha256 } from './tokens.ts';

/**
 * Ends a token with its grant and the grant's other tokens, whoever sends it: who holds a token may end it. What is no token
 * of ours, or none any more, is not good either.
 */
export async function revoke(
  deps: Deps,
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

/** One that was used before counts, too: who presents it holds the grant's first one. */
async function ofRefreshToken({ db }: Pick<Deps, 'db'>, token: string): Promise<FoundToken | undefined> {
  const found = await oidcStore(db.sql).find('RefreshToken', sha256(token));
  if (!found) return undefined;
  const { clientId, accountId, grantId } = found.payload as Record<string, string>;
  return { clientId: clientId!, userId: accountId!, grantId: grantId! };
}

async function isAuthenticated(
  { oauthClients }: Pick<Deps, 'oauthClients'>,
  body: RevocationRequest,
  context: Context,
  clientId: string,
): Promise<boolean> {
  const presented = presentedClient(context, body);
  const client = presented?.id === clientId ? await oauthClients.find(clientId) : undefined;
  return client !== undefined && isSecretOf(client, presented!.secret);
}
