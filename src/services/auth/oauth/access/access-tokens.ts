import { errors, importJWK, jwtVerify, type CryptoKey, type JWTHeaderParameters } from 'jose';
import type { Changes } from '../../../../db/changes.ts';
import { createFreshCache } from '../../../../db/fresh-cache.ts';
import type { PresentedProof, TokenVerdict } from '../../../../http/access-token.ts';
import { covers } from '../../../../http/caller.ts';
import type { Clock } from '../../../../db/clock.ts';
import { type AccessClaims, readClaims, subjectsOfClaims } from './access-claims.ts';
import type { Denylist } from './denylist.ts';
import type { Proofs } from './dpop.ts';
import { isGuarded } from '../../directory/guarded-scopes.ts';
import type { HeldScopes } from '../../roles/held-scopes.ts';
import type { KeySet, SigningKeys } from '../keys/signing-keys.ts';
import { sha256 } from '../../directory/tokens.ts';

/** The user or client of an access token, and its current rights. */
export interface AccessPrincipal extends TokenVerdict {
  readonly client_id: string;
  readonly session_id: string | null;
  readonly org_id: string | null;
  readonly impersonated_by: string | null;
  readonly expires_at: string;
}

type Later<Value> = Value | undefined | Promise<Value | undefined>;

export interface AccessTokens {
  /**
   * Returns undefined if the token is expired, revoked or not for the platform, or if it is bound to a key that is not proven.
   * Cached results are returned synchronously.
   */
  readonly resolve: (token: string, proof?: PresentedProof) => Later<AccessPrincipal>;
  /** The claims of a valid token, for any audience and any holder. */
  readonly verify: (token: string) => Later<AccessClaims>;
  /** The claims of a token that was signed here and has not expired, revoked or not. */
  readonly signed: (token: string) => Promise<AccessClaims | undefined>;
}

export interface AccessTokensDeps {
  readonly signingKeys: Pick<SigningKeys, 'current' | 'latest'>;
  readonly denylist: Pick<Denylist, 'refused'>;
  readonly heldScopes: HeldScopes;
  readonly changes: Pick<Changes, 'position' | 'isCurrent'> & { readonly clock: Clock };
  readonly proofs: Pick<Proofs, 'holds'>;
  readonly issuer: string;
  /** The audience of tokens that the platform's own services accept. */
  readonly audience: string;
  /** Maximum number of cached tokens. */
  readonly size: number;
}

interface Presented {
  readonly token: string;
  readonly hash: string;
}

const form = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;
const longest = 8_192;

/**
 * Resolves access tokens: the signature is verified on first use, and the result is cached until a subject of the token changes.
 * Rights that a user has lost since are lost to their tokens, too.
 */
export function createAccessTokens(deps: AccessTokensDeps): AccessTokens {
  const { heldScopes, proofs, audience } = deps;
  const { verify, signed } = createVerifier(deps);

  /** A token that is bound to a key requires a proof; any other token must come without one. */
  async function resolveProven(token: string, proof: PresentedProof): Promise<AccessPrincipal | undefined> {
    const claims = await verify(token);
    if (!claims || claims.key === null || !claims.audiences.includes(audience)) return undefined;
    return (await proofs.holds(proof, { token, key: claims.key })) ? principal(claims) : undefined;
  }

  const judge = (claims: AccessClaims | undefined): Later<AccessPrincipal> =>
    claims?.key === null ? principal(claims) : undefined;

  function principal(claims: AccessClaims): Later<AccessPrincipal> {
    if (!claims.audiences.includes(audience)) return undefined;
    const { tenant, app, user, scopes } = claims;
    if (user === null || !scopes.some(isGuarded)) return principalOf(claims, scopes);
    const held = heldScopes({ tenant, app, user });
    if (held instanceof Promise) return held.then((now) => principalOf(claims, cut(scopes, now)));
    return principalOf(claims, cut(scopes, held));
  }

  return {
    verify,
    signed,
    resolve(token, proof) {
      if (proof !== undefined) return resolveProven(token, proof);
      const claims = verify(token);
      return claims instanceof Promise ? claims.then(judge) : judge(claims);
    },
  };
}

/** Verifies signatures, and remembers the claims of tokens that are not refused. */
function createVerifier({
  signingKeys,
  denylist,
  changes,
  issuer,
  size,
}: AccessTokensDeps): Pick<AccessTokens, 'verify' | 'signed'> {
  const keyOf = keysOf(signingKeys);
  const cache = createFreshCache<Presented, AccessClaims>({
    size,
    changes,
    width: Infinity,
    read: acceptable,
    keyOf: ({ hash }) => hash,
    subjectsOf: subjectsOfClaims,
  });

  /** The claims of those tokens that are valid and not refused, by the hash of the token. */
  async function acceptable(presented: readonly Presented[]): Promise<Map<string, AccessClaims>> {
    const read = await Promise.all(presented.map(({ token }) => signed(token)));
    const refused = await denylist.refused(read.filter((claims) => claims !== undefined));
    return new Map(
      presented.flatMap(({ hash }, at) => {
        const claims = read[at];
        return claims && !refused.has(claims.id) ? [[hash, claims] as const] : [];
      }),
    );
  }

  async function signed(token: string): Promise<AccessClaims | undefined> {
    if (token.length > longest || !form.test(token)) return undefined;
    try {
      const { payload } = await jwtVerify(token, keyOf, {
        algorithms: ['ES256'],
        typ: 'at+jwt',
        issuer,
        currentDate: new Date(changes.clock.now()),
      });
      return readClaims(payload);
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  function verify(token: string): Later<AccessClaims> {
    if (token.length > longest || !form.test(token)) return undefined;
    const hash = sha256(token).toString('hex');
    const kept = cache.get(hash);
    return kept ? live(kept) : cache.load({ token, hash }).then(live);
  }

  const live = (claims: AccessClaims | undefined) =>
    claims && changes.clock.now() < claims.expiresAt ? claims : undefined;

  return { verify, signed };
}

/** A token has no guarded scope that its user lost; the app's own scopes are not the platform's concern. */
const cut = (scopes: readonly string[], held: readonly string[]) =>
  scopes.filter((scope) => !isGuarded(scope) || covers(held, scope));

const principalOf = (claims: AccessClaims, scopes: readonly string[]): AccessPrincipal => ({
  id: claims.id,
  tenant: claims.tenant,
  app: claims.app,
  user_id: claims.user,
  client_id: claims.client,
  session_id: claims.session,
  org_id: claims.org,
  impersonated_by: claims.impersonatedBy,
  scopes,
  expires_at: new Date(claims.expiresAt).toISOString(),
});

/** Finds the key of a token by its `kid`, among those of the key set that sign access tokens. */
function keysOf(signingKeys: AccessTokensDeps['signingKeys']) {
  let known: { version: number; keys: Promise<ReadonlyMap<string, CryptoKey>> } | undefined;

  async function find(set: KeySet, kid: string): Promise<CryptoKey | undefined> {
    if (known?.version !== set.version) known = { version: set.version, keys: imported(set) };
    return (await known.keys).get(kid);
  }

  return async ({ kid = '' }: JWTHeaderParameters): Promise<CryptoKey> => {
    // Keys that another process rotated twice may sign before this process has noticed the first rotation.
    const key =
      (await find(await signingKeys.current(), kid)) ?? (await find(await signingKeys.latest(), kid));
    if (!key) throw new errors.JWKSNoMatchingKey();
    return key;
  };
}

async function imported({ published }: KeySet): Promise<ReadonlyMap<string, CryptoKey>> {
  const own = published.filter(({ alg }) => alg === 'ES256');
  return new Map(
    await Promise.all(
      own.map(async (jwk) => [jwk.kid!, (await importJWK(jwk, 'ES256')) as CryptoKey] as const),
    ),
  );
}
