import type { Deps } from './access/deps.ts';
import { oidcStore } from '../directory/oidc.store.ts';
import { sha256 } from '../directory/tokens.ts';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { errors } from './oidc-library.ts';

type AccessToken = InstanceType<KoaContextWithOIDC['oidc']['provider']['AccessToken']>;
type ClientCredentials = InstanceType<KoaContextWithOIDC['oidc']['provider']['ClientCredentials']>;

/** Access tokens are found by an id that no token looks like, so reading a `jti` in a log does not give access to the token. */
export const recordId = (jti: string): string => `jwt:${jti}`;

/** Records an access token before the library signs it, so that it can be introspected and revoked. @throws InvalidGrant */
export async function noteAccessToken(
  { db, oauthClients }: Pick<Deps, 'db' | 'oauthClients'>,
  token: AccessToken | ClientCredentials,
  { payload }: { payload: Record<string, unknown> },
): Promise<void> {
  const client = await oauthClients.find(token.clientId ?? '');
  if (!client) throw new errors.InvalidGrant('the client has ended');
  const granted = token.kind === 'AccessToken' ? token : undefined;
  const { iat, exp, jti, aud } = payload;
  const issued = await oidcStore(db.sql).issue({
    model: token.kind,
    id_hash: sha256(recordId(String(jti))),
    payload: {
      // The library reads back only this format.
      format: 'opaque',
      kind: token.kind,
      iat,
      exp,
      aud,
      scope: token.scope,
      jkt: token.jkt,
      clientId: client.id,
      ...(granted && {
        accountId: granted.accountId,
        grantId: granted.grantId,
        gty: granted.gty,
        sessionUid: granted.sessionUid,
        expiresWithSession: granted.expiresWithSession,
      }),
    },
    grant_id: granted?.grantId ?? null,
    grant_hash: granted?.grantId === undefined ? null : sha256(granted.grantId),
    session_uid: granted?.expiresWithSession ? (granted.sessionUid ?? null) : null,
    user_id: granted?.accountId ?? null,
    client_id: client.id,
    tenant_id: client.tenant,
    expires_in: token.expiration,
  });
  if (!issued) throw new errors.InvalidGrant('the grant has ended');
  Object.assign(payload, {
    tenant_id: client.tenant,
    app_id: client.app,
    iat_ms: issued.iat_ms,
    ...(granted?.grantId !== undefined && { gid: granted.grantId }),
    ...(issued.sid !== null && { sid: issued.sid }),
    ...(issued.org_id !== null && { org_id: issued.org_id }),
  });
}
