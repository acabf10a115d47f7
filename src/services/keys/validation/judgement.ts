import type { KeyState, Outcome, Unchecked } from '../../../../generated/keys/types.ts';
import type { Rate } from '../../../db/rates/rates.ts';
import type { AddressMatcher } from '../../../lib/addresses.ts';
import type { OriginMatcher } from './origins.ts';
import { coversAll, type HeldScopes } from './scopes.ts';

/** A policy compiled for questions: nothing in it is parsed again while it is cached. Times are in milliseconds. */
export interface CompiledPolicy {
  readonly id: string;
  /** Null means no limit. */
  readonly rate: Rate | null;
  readonly maxKeyAgeMs: number | null;
  readonly requireContext: boolean;
  /** Null allows every address. */
  readonly addresses: AddressMatcher | null;
  /** Null allows every origin. */
  readonly origins: OriginMatcher | null;
}

/** Everything known about a raw key: its secret, the key behind it, and the key's policy. Times are in epoch milliseconds. */
export interface Subject {
  readonly secretCreatedAt: number;
  /** When this replaced secret stops working. Null for the current secret. */
  readonly graceEndsAt: number | null;
  /** Whether the secret was ended: its grace was cut short, it was replaced without one, or its key was revoked. */
  readonly dead: boolean;
  readonly state: KeyState;
  readonly expiresAt: number | null;
  readonly environment: string;
  readonly scopes: HeldScopes;
  readonly policy: CompiledPolicy | null;
}

/** The caller's description of the request. An empty list of scopes requires nothing. */
export interface Question {
  readonly requiredScopes: readonly string[];
  readonly ip: string | null;
  readonly origin: string | null;
  readonly environment: string | null;
}

type Check = (subject: Subject, question: Question, now: number) => Outcome | null;

/**
 * The contract fixes the order: the first check that fails determines the code. The rate comes afterwards, so that a refusal
 * costs nothing.
 */
const checks: readonly Check[] = [
  (subject, _, now) => (isRotated(subject, now) ? 'ROTATED' : null),
  (subject, _, now) => codeOfState[stateAt(subject, now)],
  (subject, _, now) => (isTooOld(subject, now) ? 'TOO_OLD' : null),
  (subject, { environment }) =>
    environment !== null && environment !== subject.environment ? 'ENVIRONMENT_MISMATCH' : null,
  ({ policy }, question) =>
    policy !== null && policy.requireContext && uncheckedOf(policy, question).length > 0
      ? 'CONTEXT_REQUIRED'
      : null,
  ({ policy }, { ip }) =>
    policy?.addresses && ip !== null && !policy.addresses(ip) ? 'IP_NOT_ALLOWED' : null,
  ({ policy }, { origin }) =>
    policy?.origins && origin !== null && !policy.origins(origin) ? 'ORIGIN_NOT_ALLOWED' : null,
  ({ scopes }, { requiredScopes }) => (coversAll(scopes, requiredScopes) ? null : 'INSUFFICIENT_SCOPES'),
];

/** Runs checks 2 to 8 of the table. `VALID` means that only the rate is left to check. `now` is in epoch milliseconds. */
export function judge(subject: Subject, question: Question, now: number): Outcome {
  for (const check of checks) {
    const code = check(subject, question, now);
    if (code !== null) return code;
  }
  return 'VALID';
}

const codeOfState: Record<KeyState, Outcome | null> = {
  active: null,
  suspended: 'SUSPENDED',
  expired: 'EXPIRED',
  revoked: 'REVOKED',
};

/** Returns the state at `now`: expiry takes effect at once, even before the sweep stores it. */
export function stateAt({ state, expiresAt }: Pick<Subject, 'state' | 'expiresAt'>, now: number): KeyState {
  return state !== 'revoked' && expiresAt !== null && expiresAt <= now ? 'expired' : state;
}

/** Returns what the policy would have checked if the caller had sent it. */
export function uncheckedOf(policy: CompiledPolicy | null, { ip, origin }: Question): readonly Unchecked[] {
  if (policy === null) return nothing;
  const ipMissing = policy.addresses !== null && ip === null;
  const originMissing = policy.origins !== null && origin === null;
  if (ipMissing) return originMissing ? ['ip', 'origin'] : ['ip'];
  return originMissing ? ['origin'] : nothing;
}

const nothing: readonly Unchecked[] = [];

/**
 * A revoked key is reported as revoked, although revoking ends all its secrets: only a replaced secret is `ROTATED`. `dead`
 * counts as well as the time, so that a grace period ended now has also ended for a process whose clock is behind.
 */
function isRotated({ dead, graceEndsAt, state }: Subject, now: number): boolean {
  return (graceEndsAt !== null && graceEndsAt <= now) || (dead && state !== 'revoked');
}

function isTooOld({ policy, secretCreatedAt }: Subject, now: number): boolean {
  return policy !== null && policy.maxKeyAgeMs !== null && now - secretCreatedAt > policy.maxKeyAgeMs;
}
