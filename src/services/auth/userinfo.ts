import type { UserClaims } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import { Invalid, Unauthenticated } from '../../lib/errors.ts';
import type { Deps } from './deps.ts';
import { MissingScope } from './errors.ts';
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
  const claims = await deps.accessTokens.verify(bearer ?? sent ?? '');
  if (!claims) throw invalidToken();
  const { tenant, app, user: id, scopes } = claims;
  if (id === null || !scopes.includes('openid')) throw MissingScope('openid');
  const user = await deps.knownUsers({ tenant, app, id });
  if (!user || user.banned) throw invalidToken();
  context.reply.header('Cache-Control', 'no-store');
  return claimsOf(user, scopes);
}
