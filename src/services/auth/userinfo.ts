import type { UserClaims } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import { Forbidden, Invalid, Unauthenticated } from '../../lib/errors.ts';
import type { Deps } from './deps.ts';
import { scopesIn } from './granted-scopes.ts';
import { readAccessToken, recordId } from './issued-tokens.ts';
import { oidcStore } from './oidc.store.ts';
import { sha256 } from './tokens.ts';
import { claimsOf } from './user-claims.ts';

const invalidToken = () => Unauthenticated('invalid token provided');

/** What the user allowed the client to see, for an access token of whatever audience. `sent`: in the form. */
export async function userinfo(
  deps: Deps,
  sent: string | undefined,
  context: Pick<Context, 'authorization' | 'reply'>,
): Promise<UserClaims> {
  const bearer = /^bearer +(\S+) *$/i.exec(context.authorization ?? '')?.[1];
  if (sent !== undefined && bearer !== undefined)
    throw Invalid('access token must only be provided using one mechanism');
  const claims = await readAccessToken(deps, bearer ?? sent ?? '');
  const record = claims && (await oidcStore(deps.db.sql).find('AccessToken', sha256(recordId(claims.jti))));
  if (!claims || !record) throw invalidToken();
  const scopes = scopesIn(claims.scope);
  if (!scopes.includes('openid'))
    throw Forbidden('access token missing openid scope', { details: { reason: 'insufficient_scope' } });
  const user = await deps.knownUsers({ tenant: claims.tenant_id, app: claims.app_id, id: claims.sub });
  if (!user || user.banned) throw invalidToken();
  context.reply.header('Cache-Control', 'no-store');
  return claimsOf(user, scopes);
}
