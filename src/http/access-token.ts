import { Unauthenticated } from '../lib/errors.ts';
import type { Caller } from './caller.ts';
import type { CredentialResolver } from './credentials.ts';

/** What the HTTP layer asks of the service that issues access tokens: undefined for one that is not good. */
export type ResolveToken = (token: string) => TokenVerdict | undefined | Promise<TokenVerdict | undefined>;

export interface TokenVerdict {
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  /** Null where the client acts for itself. */
  readonly user_id: string | null;
  readonly client_id: string;
  readonly scopes: readonly string[];
}

const tokenShape = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** An access token of the OAuth provider (a JWT, RFC 9068) as Bearer. */
export function accessToken(resolve: ResolveToken): CredentialResolver {
  return ({ bearer }) => {
    if (bearer === undefined || !tokenShape.test(bearer)) return undefined;
    const found = resolve(bearer);
    return found instanceof Promise ? found.then(tokenCaller) : tokenCaller(found);
  };
}

const tokenCaller = (found: TokenVerdict | undefined): Caller => {
  if (!found) throw Unauthenticated();
  return {
    tenant: found.tenant,
    app: found.app,
    actor: found.user_id ?? found.client_id,
    userId: found.user_id,
    subjectId: null,
    credential: { kind: 'token', id: found.id },
    session: null,
    scopes: found.scopes,
    confined: false,
  };
};
