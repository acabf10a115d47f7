import type { UserClaims } from '../../../../generated/auth/types.ts';
import { dpopChallenge, tokenOfDpop } from '../../../http/access-token.ts';
import type { Context } from '../../../http/context.ts';
import { Invalid, Unauthenticated } from '../../../lib/errors.ts';
import type { AccessClaims } from './access/access-claims.ts';
import type { Deps } from './access/deps.ts';
import { MissingScope } from '../errors.ts';
import { claimsOf } from './user-claims.ts';

/** The credentials of a userinfo request. */
export interface UserinfoCall {
  readonly method: 'GET' | 'POST';
  /** The header `DPoP`. */
  readonly proof: string | undefined;
  /** The token in the form, if any. */
  readonly sent: string | undefined;
}

/** Without a token, the challenge names the schemes but no error code (RFC 6750, section 3). */
const noToken = () =>
  Unauthenticated('no access token provided', { challenge: `Bearer, ${dpopChallenge()}` });

const invalidToken = (scheme: Scheme) =>
  Unauthenticated('invalid token provided', {
    challenge: scheme === 'DPoP' ? dpopChallenge('invalid_token') : 'Bearer error="invalid_token"',
  });

type Scheme = 'Bearer' | 'DPoP';

/** Returns the claims that the user allowed the client to see, for an access token of any audience. */
export async function userinfo(
  deps: Deps,
  call: UserinfoCall,
  context: Pick<Context, 'authorization' | 'reply'>,
): Promise<UserClaims> {
  const { token, scheme } = presented(call, context);
  const claims = await deps.accessTokens.verify(token);
  if (!claims || !(await isItsHolder(deps, claims, token, scheme, call))) throw invalidToken(scheme);
  const { tenant, app, user: id, scopes } = claims;
  if (id === null || !scopes.includes('openid')) throw MissingScope('openid', scheme);
  const user = await deps.knownUsers({ tenant, app, id });
  if (!user || user.banned) throw invalidToken(scheme);
  context.reply.header('Cache-Control', 'no-store');
  return claimsOf(user, scopes);
}

function presented({ sent }: UserinfoCall, { authorization = '' }: Pick<Context, 'authorization'>) {
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  const bound = tokenOfDpop(authorization);
  if (sent !== undefined && authorization !== '')
    throw Invalid('access token must only be provided using one mechanism');
  const token = bound ?? bearer ?? sent;
  if (token === undefined) throw noToken();
  return { token, scheme: bound === undefined ? 'Bearer' : 'DPoP' } as const;
}

/** Any holder of a token may use it, unless it is bound to a key. */
async function isItsHolder(
  { proofs, issuer }: Deps,
  { key }: AccessClaims,
  token: string,
  scheme: Scheme,
  { method, proof }: UserinfoCall,
): Promise<boolean> {
  if (key === null || scheme === 'Bearer') return key === null && scheme === 'Bearer';
  const addresses = [`${issuer}/oauth2/userinfo`];
  return proof !== undefined && proofs.isGood(proof, { token, key, method, addresses });
}
