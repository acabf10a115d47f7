import {
  calculateJwkThumbprint,
  decodeProtectedHeader,
  EmbeddedJWK,
  errors,
  type JWK,
  jwtVerify,
} from 'jose';
import { type PresentedProof, proofAlgorithms } from '../../../../http/access-token.ts';
import { sha256 } from '../../directory/tokens.ts';
import type { UsedOnce } from '../../directory/used-once.ts';
import type { Clock } from '../../../../db/clock.ts';

/** A proof is valid this long before and after the time that it names, because clocks may differ. */
export const proofWindowSeconds = 300;

const longestProof = 8_192;
const longestId = 256;

/** The claim to prove: that the sender of this token, in this request, holds this key. */
export interface ToProve {
  readonly token: string;
  /** The key's thumbprint (RFC 7638). */
  readonly key: string;
  readonly method: string;
  /** The URLs, without a query, that the request may have been sent to. */
  readonly addresses: readonly string[];
}

/** Proofs of the keys that access tokens are bound to (RFC 9449, section 4.3). */
export interface Proofs {
  /** Whether the proof is valid; across all processes, it is accepted only once. */
  isGood(proof: string, wanted: ToProve): Promise<boolean>;
  /** The same for a request to a service of the platform. */
  holds(presented: PresentedProof, bound: Pick<ToProve, 'token' | 'key'>): Promise<boolean>;
}

export interface ProofsDeps {
  readonly clock: Clock;
  readonly usedOnce: UsedOnce;
  /** The public base URLs of the platform's services, without a trailing slash. */
  readonly bases: readonly string[];
}

export function createProofs({ clock, usedOnce, bases }: ProofsDeps): Proofs {
  async function isGood(proof: string, wanted: ToProve): Promise<boolean> {
    const id = await provenId(proof, wanted, clock.now() / 1_000);
    if (id === undefined) return false;
    // A used proof is remembered for the longest time that it could be valid.
    return usedOnce('dpop', `${wanted.key} ${id}`, 2 * proofWindowSeconds);
  }
  return {
    isGood,
    holds: ({ proof, method, path }, bound) =>
      isGood(proof, { ...bound, method, addresses: bases.map((base) => base + path) }),
  };
}

/** Returns the id of a valid proof; undefined for any other. `now` is in seconds since 1970. */
export async function provenId(proof: string, wanted: ToProve, now: number): Promise<string | undefined> {
  try {
    // This check precedes any verification, so that a sender without the key causes no work.
    if (proof.length > longestProof || (await keyOf(proof)) !== wanted.key) return undefined;
    const { payload } = await jwtVerify(proof, EmbeddedJWK, {
      algorithms: [...proofAlgorithms],
      typ: 'dpop+jwt',
      currentDate: new Date(now * 1_000),
    });
    const { jti, iat, htm, htu, ath } = payload;
    const isRight =
      typeof iat === 'number' &&
      Math.abs(now - iat) <= proofWindowSeconds &&
      htm === wanted.method &&
      isAddress(htu, wanted.addresses) &&
      ath === sha256(wanted.token).toString('base64url');
    return isRight && typeof jti === 'string' && jti !== '' && jti.length <= longestId ? jti : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The thumbprint of the key that a proof names as its own. */
async function keyOf(proof: string): Promise<string | undefined> {
  const { jwk } = decodeProtectedHeader(proof) as { jwk?: JWK };
  return typeof jwk === 'object' ? calculateJwkThumbprint(jwk) : undefined;
}

/** Whether the URL equals one of the addresses by RFC 3986, ignoring query and fragment. */
function isAddress(htu: unknown, addresses: readonly string[]): boolean {
  const meant = typeof htu === 'string' ? plain(htu) : undefined;
  return meant !== undefined && addresses.some((address) => plain(address) === meant);
}

function plain(address: string): string | undefined {
  const url = URL.parse(address);
  return url ? `${url.origin}${url.pathname}` : undefined;
}

/** The base URLs of the services: the issuer without the service's own path, and those that the operator names. */
export const basesOf = (issuer: string, servedPath: string, others: readonly string[]): string[] => [
  issuer.endsWith(servedPath) ? issuer.slice(0, -servedPath.length) : new URL(issuer).origin,
  ...others,
];
