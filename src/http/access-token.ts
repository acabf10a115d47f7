import type { IncomingMessage } from 'node:http';
import { Unauthenticated } from '../lib/errors.ts';
import type { Caller } from './caller.ts';
import type { CredentialResolver } from './credentials.ts';

/** The DPoP proof (RFC 9449) that came with a key-bound token, and the request that carried it. */
export interface PresentedProof {
  /** Value of the `DPoP` header, a JWT. */
  readonly proof: string;
  readonly method: string;
  /** Path of the request, without its query. */
  readonly path: string;
}

/**
 * Resolves an access token through the service that issues access tokens; returns undefined for an invalid token. A key-bound token
 * is valid only with a proof of its key, any other token only without a proof.
 */
export type ResolveToken = (
  token: string,
  proof?: PresentedProof,
) => TokenVerdict | undefined | Promise<TokenVerdict | undefined>;

export interface TokenVerdict {
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  /** Null when the client acts for itself. */
  readonly user_id: string | null;
  readonly client_id: string;
  readonly scopes: readonly string[];
}

const tokenShape = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Accepts an access token of the OAuth provider (a JWT, RFC 9068): as Bearer, or as DPoP with the proof of its key. */
export function accessToken(resolve: ResolveToken): CredentialResolver {
  return ({ bearer, authorization }, req) => {
    if (bearer === undefined) return boundToken(resolve, authorization, req);
    if (!tokenShape.test(bearer)) return undefined;
    const found = resolve(bearer);
    return found instanceof Promise ? found.then(tokenCaller) : tokenCaller(found);
  };
}

function boundToken(
  resolve: ResolveToken,
  authorization: string | undefined,
  { headers, method = 'GET', url = '/' }: IncomingMessage,
): Promise<Caller> | undefined {
  const token = authorization === undefined ? undefined : tokenOfDpop(authorization);
  if (token === undefined) return undefined;
  const proof = headers['dpop'];
  if (typeof proof !== 'string' || !tokenShape.test(token)) throw NotProven();
  const presented = { proof, method, path: url.split('?', 1)[0]! };
  return Promise.resolve(resolve(token, presented)).then((found) => {
    if (!found) throw NotProven();
    return tokenCaller(found);
  });
}

/** Returns the token of an `Authorization` header that uses the `DPoP` scheme. */
export const tokenOfDpop = (authorization: string): string | undefined =>
  /^dpop +(\S+) *$/i.exec(authorization)?.[1];

/** The algorithms with which proofs may be signed. */
export const proofAlgorithms = ['ES256', 'Ed25519', 'EdDSA'] as const;

/** The `WWW-Authenticate` challenge for key-bound tokens: the scheme and the algorithms that proofs may use. */
export const dpopChallenge = (error?: string): string =>
  `DPoP ${error === undefined ? '' : `error="${error}", `}algs="${proofAlgorithms.join(' ')}"`;

const NotProven = () =>
  Unauthenticated('the token, or the proof of its key in the header DPoP, is missing or invalid', {
    challenge: dpopChallenge('invalid_token'),
  });

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
