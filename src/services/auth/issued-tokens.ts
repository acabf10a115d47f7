import { createLocalJWKSet, errors as joseErrors, jwtVerify, type JWTPayload } from 'jose';
import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { Deps } from './deps.ts';
import { oidcStore } from './oidc.store.ts';
import type { KeySet } from './signing-keys.ts';
import { sha256 } from './tokens.ts';

type AccessToken = InstanceType<KoaContextWithOIDC['oidc']['provider']['AccessToken']>;
type ClientCredentials = InstanceType<KoaContextWithOIDC['oidc']['provider']['ClientCredentials']>;

/** What is signed into an access token (RFC 9068), besides what the library says itself. */
export interface AccessTokenClaims {
  readonly jti: string;
  readonly sub: string;
  readonly client_id: string;
  readonly tenant_id: string;
  readonly app_id: string;
  /** The grant that it comes of; absent where the client acts for itself. */
  readonly gid?: string;
  /** The browser session that it ends with. */
  readonly sid?: string;
  readonly org_id?: string;
  /** When it was issued, in milliseconds by the database's clock. */
  readonly iat_ms: number;
  readonly scope?: string;
  readonly exp: number;
}

/**
 * Access tokens are found by an id that no token looks like: whoever read one's `jti` in a log does not hold the token.
 */
export const recordId = (jti: string): string => `jwt:${jti}`;

/** Notes an access token before the library signs it, so that it can be asked about and ended. @throws InvalidGrant */
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
      // The library reads no other ones back.
      format: 'opaque',
      kind: token.kind,
      iat,
      exp,
      aud,
      scope: token.scope,
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

/** The claims of an access token of ours, for whatever audience; undefined where it was not signed by us or has expired. */
export async function readAccessToken(
  { signingKeys, issuer }: Pick<Deps, 'signingKeys' | 'issuer'>,
  token: string,
): Promise<AccessTokenClaims | undefined> {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  try {
    const { payload } = await jwtVerify<AccessTokenClaims & JWTPayload>(
      token,
      verifierOf(await signingKeys.current()),
      { issuer, typ: 'at+jwt', algorithms: ['ES256'], requiredClaims: ['jti', 'client_id', 'iat_ms', 'exp'] },
    );
    return payload;
  } catch (error) {
    if (error instanceof joseErrors.JOSEError) return undefined;
    throw error;
  }
}

/** Keys are imported once for each state of the key set. */
const verifiers = new WeakMap<KeySet, ReturnType<typeof createLocalJWKSet>>();

function verifierOf(keys: KeySet) {
  const known = verifiers.get(keys) ?? createLocalJWKSet({ keys: [...keys.published] });
  verifiers.set(keys, known);
  return known;
}
