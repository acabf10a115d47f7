import type { KeyState, Outcome, Unchecked } from '../../../../generated/keys/types.ts';
import type { AddressMatcher } from './addresses.ts';
import type { Rate } from './rates.ts';
import type { OriginMatcher } from './origins.ts';
import { coversAll, type HeldScopes } from './scopes.ts';

/** A policy made ready for questions: nothing of it is parsed again while it is cached. Times in milliseconds. */
export interface CompiledPolicy {
  readonly id: string;
  /** Null without a limit. */
  readonly rate: Rate | null;
  readonly maxKeyAgeMs: number | null;
  readonly requireContext: boolean;
  /** Null allows every address. */
  readonly addresses: AddressMatcher | null;
  /** Null allows every origin. */
  readonly origins: OriginMatcher | null;
}

/** What is known of a raw key: the secret it is, the key behind it, the policy over it. Times in epoch milliseconds. */
export interface Subject {
  readonly secretCreatedAt: number;
  /** When this secret stopped being the current one and until when it still works; null for the current one. */
  readonly graceEndsAt: number | null;
  /** The secret was ended: its grace was cut short, it was replaced without one, or its key was revoked. */
  readonly dead: boolean;
  readonly state: KeyState;
  readonly expiresAt: number | null;
  readonly environment: string;
  readonly scopes: HeldScopes;
  readonly policy: CompiledPolicy | null;
}

/** What the caller says of the request being judged. An empty list of scopes requires nothing. */
export interface Question {
  readonly requiredScopes: readonly string[];
  readonly ip: string | null;
  readonly origin: string | null;
  readonly environment: string | null;
}

type Check = (subject: Subject, question: Question, now: number) => Outcome | null;

/** The order is the contract: the first check that fails is the code. Rate follows, so that a refusal costs nothing. */
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

/** Checks 2 to 8 of the table; `VALID` means that only the rate is left to ask. `now` in epoch milliseconds. */
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

/** The state as of now: expiry is seen at once by every answer, whenever the sweep gets to store it. */
export function stateAt({ state, expiresAt }: Pick<Subject, 'state' | 'expiresAt'>, now: number): KeyState {
  return state !== 'revoked' && expiresAt !== null && expiresAt <= now ? 'expired' : state;
}

/** What the policy would have checked if the caller had sent it. */
export function uncheckedOf(policy: CompiledPolicy | null, { ip, origin }: Question): readonly Unchecked[] {
  if (policy === null) return nothing;
  const ipMissing = policy.addresses !== null && ip === null;
  const originMissing = policy.origins !== null && origin === null;
  if (ipMissing) return originMissing ? ['ip', 'origin'] : ['ip'];
  return originMissing ? ['origin'] : nothing;
}

const nothing: readonly Unchecked[] = [];

/**
 * A revoked key says so, although revoking ends all its secrets: only what was replaced is `ROTATED`. The mark counts
 * besides the time, because a grace that was ended now has ended for a process whose clock is behind, too.
 */
function isRotated({ dead, graceEndsAt, state }: Subject, now: number): boolean {
  return (graceEndsAt !== null && graceEndsAt <= now) || (dead && state !== 'revoked');
}

function isTooOld({ policy, secretCreatedAt }: Subject, now: number): boolean {
  return policy !== null && policy.maxKeyAgeMs !== null && now - secretCreatedAt > policy.maxKeyAgeMs;
}
