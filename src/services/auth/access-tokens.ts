import { errors, importJWK, jwtVerify, type CryptoKey, type JWTHeaderParameters } from 'jose';
import type { Changes } from '../../db/changes.ts';
import { createFreshCache } from '../../db/fresh-cache.ts';
import type { TokenVerdict } from '../../http/access-token.ts';
import { covers } from '../../http/caller.ts';
import { type AccessClaims, readClaims, subjectsOfClaims } from './access-claims.ts';
import type { Denylist } from './denylist.ts';
import { isGuarded } from './guarded-scopes.ts';
import type { HeldScopes } from './held-scopes.ts';
import type { KeySet, SigningKeys } from './signing-keys.ts';
import { sha256 } from './tokens.ts';

/** Whom an access token stands for, and what it may do now. */
export interface AccessPrincipal extends TokenVerdict {
  readonly client_id: string;
  readonly session_id: string | null;
  readonly org_id: string | null;
  readonly impersonated_by: string | null;
  readonly expires_at: string;
}

type Later<Value> = Value | undefined | Promise<Value | undefined>;

export interface AccessTokens {
  /** Undefined where the token is not one for the platform, expired or revoked. From memory it answers at once. */
  readonly resolve: (token: string) => Later<AccessPrincipal>;
  /** The claims of a token that is good, whatever audience it is for. */
  readonly verify: (token: string) => Later<AccessClaims>;
  /** The claims of a token that was signed here and has not expired, revoked or not. */
  readonly signed: (token: string) => Promise<AccessClaims | undefined>;
}

export interface AccessTokensDeps {
  readonly signingKeys: Pick<SigningKeys, 'current' | 'latest'>;
  readonly denylist: Pick<Denylist, 'refused'>;
  readonly heldScopes: HeldScopes;
  readonly changes: Pick<Changes, 'position' | 'isCurrent'>;
  readonly issuer: string;
  /** Of tokens that the platform's own services take. */
  readonly audience: string;
  /** How many are kept at most. */
  readonly size: number;
}

interface Presented {
  readonly token: string;
  readonly hash: string;
}

const form = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;
const longest = 8_192;

/**
 * Resolves access tokens: the signature is checked where a token is first seen, then it is remembered until something that it
 * depends on changes. What a user has lost since, their tokens have lost, too.
 */
export function createAccessTokens({
  signingKeys,
  denylist,
  heldScopes,
  changes,
  issuer,
  audience,
  size,
}: AccessTokensDeps): AccessTokens {
  const keyOf = keysOf(signingKeys);
  const cache = createFreshCache<Presented, AccessClaims>({
    size,
    changes,
    width: Infinity,
    async read(presented) {
      const read = await Promise.all(presented.map(({ token }) => signed(token)));
      const refused = await denylist.refused(read.filter((claims) => claims !== undefined));
      return new Map(
        presented.flatMap(({ hash }, at) => {
          const claims = read[at];
          return claims && !refused.has(claims.id) ? [[hash, claims] as const] : [];
        }),
      );
    },
    keyOf: ({ hash }) => hash,
    subjectsOf: subjectsOfClaims,
  });

  async function signed(token: string): Promise<AccessClaims | undefined> {
    if (token.length > longest || !form.test(token)) return undefined;
    try {
      const { payload } = await jwtVerify(token, keyOf, { algorithms: ['ES256'], typ: 'at+jwt', issuer });
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

  function judge(claims: AccessClaims | undefined): Later<AccessPrincipal> {
    if (!claims?.audiences.includes(audience)) return undefined;
    const { tenant, app, user, org, scopes } = claims;
    if (user === null || !scopes.some(isGuarded)) return principalOf(claims, scopes);
    const held = heldScopes({ tenant, app, user, org });
    if (held instanceof Promise) return held.then((now) => principalOf(claims, cut(scopes, now)));
    return principalOf(claims, cut(scopes, held));
  }

  return {
    verify,
    signed,
    resolve(token) {
      const claims = verify(token);
      return claims instanceof Promise ? claims.then(judge) : judge(claims);
    },
  };
}

const live = (claims: AccessClaims | undefined) =>
  claims && Date.now() < claims.expiresAt ? claims : undefined;

/** What a user does not hold any more, nobody may do for them; scopes that are the app's own are no matter of the platform. */
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
    // Keys that turned twice elsewhere may sign before this process has heard of the first time.
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
