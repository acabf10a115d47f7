import type {
  Outcome,
  RateLimit,
  UsageRecord,
  ValidationRequest,
  ValidationResult,
} from '../../../../generated/keys/types.ts';
import type { Leases } from '../../../db/rates/leases.ts';
import type { Admission, Rate } from '../../../db/rates/rates.ts';
import { formatDuration } from '../../../lib/durations.ts';
import { idTime, newId } from '../../../lib/ids.ts';
import type { KeyCache } from './cache.ts';
import { judge, uncheckedOf, type Question } from './judgement.ts';
import { viewAt, type KnownKey } from './known-key.ts';
import { hashRawKey, parseRawKey } from './raw-key.ts';
import type { Recorder } from './usage.ts';

/** The asker of a validation. The operator may ask about the keys of every tenant, all others about their own. */
export interface Asker {
  readonly tenant: string;
  readonly operator: boolean;
}

/**
 * Decides whether a request that carries a raw key may pass (5.3). A negative decision is returned, not thrown.
 * @throws RateLimited when uses arrive faster than they can be stored, Unavailable when the store cannot answer
 */
export type Validate = (request: ValidationRequest, asker: Asker) => Promise<ValidationResult>;

export interface ValidateDeps {
  readonly cache: KeyCache;
  /** Returns the tenant that the tag of a raw key names. */
  readonly tenantOf: (tag: string) => string | undefined | Promise<string | undefined>;
  readonly leases: Leases;
  readonly recorder: Recorder;
  /** The database's clock, which determines expiry. */
  readonly clock: { now(): number };
}

export function createValidate({ cache, tenantOf, leases, recorder, clock }: ValidateDeps): Validate {
  /** Check 1: form and check digits, a known hash, the right tenant. An asker other than the operator searches only its own keys. */
  async function find(rawKey: string, asker: Asker): Promise<KnownKey | undefined> {
    const parsed = parseRawKey(rawKey);
    if (parsed === undefined) return undefined;
    const hash = hashRawKey(rawKey);
    const known = cache.get(hash);
    if (known !== undefined && (asker.operator || known.tenant === asker.tenant)) return known;
    const tenant = asker.operator ? await tenantOf(parsed.tag) : asker.tenant;
    return tenant === undefined ? undefined : await cache.load({ tenant, hash });
  }

  async function record(
    known: KnownKey,
    outcome: Outcome,
    request: ValidationRequest,
    now: number,
  ): Promise<string | null> {
    if (request.record === 'none') return null;
    const use = usageRecord(known, outcome, request, now);
    return request.record === 'async' ? recorder.defer(use) : await recorder.keep(use);
  }

  return async (request, asker) => {
    if (request.record !== 'none') recorder.checkRoom();
    const known = await find(request.raw_key, asker);
    if (known === undefined) return notFound;
    const now = clock.now();
    const question = questionOf(request);
    let outcome = judge(known, question, now);
    const rate = known.policy?.rate ?? null;
    let admission: Admission | null = null;
    if (rate !== null) {
      // An already refused request only reads the count.
      const holder = { tenant: known.tenant, key: known.id };
      const taken = leases.take(holder, rate, outcome === 'VALID' ? request.cost : 0);
      admission = taken instanceof Promise ? await taken : taken;
      if (!admission.admitted && outcome === 'VALID') outcome = 'RATE_LIMITED';
    }
    return {
      valid: outcome === 'VALID',
      key: viewAt(known, now),
      scopes: [...known.scopes.names],
      code: outcome,
      message: messages[outcome],
      rate_limit: rate === null || admission === null ? null : rateLimitOf(rate, admission, now),
      retry_after: outcome === 'RATE_LIMITED' && admission !== null ? secondsOf(admission.waitMs) : null,
      unchecked: [...uncheckedOf(known.policy, question)],
      grace_ends_at: known.graceEnd,
      usage_id: await record(known, outcome, request, now),
    };
  };
}

/**
 * The same result for a key that does not exist and a key of another tenant. It is not recorded, because there is no key to
 * record it for.
 */
const notFound: ValidationResult = Object.freeze({
  valid: false,
  key: null,
  scopes: [],
  code: 'NOT_FOUND',
  message: 'no such key',
  rate_limit: null,
  retry_after: null,
  unchecked: [],
  grace_ends_at: null,
  usage_id: null,
});

const messages: Record<Outcome, string> = {
  VALID: 'valid',
  NOT_FOUND: 'no such key',
  ROTATED: 'this raw key was replaced and its grace is over',
  REVOKED: 'key is revoked',
  SUSPENDED: 'key is suspended',
  EXPIRED: 'key is expired',
  TOO_OLD: 'this raw key is older than its policy allows',
  ENVIRONMENT_MISMATCH: 'key is for another environment',
  CONTEXT_REQUIRED: 'policy needs the ip or origin of the request',
  IP_NOT_ALLOWED: 'address is not allowed',
  ORIGIN_NOT_ALLOWED: 'origin is not allowed',
  INSUFFICIENT_SCOPES: 'key does not hold all required scopes',
  RATE_LIMITED: 'rate limit exceeded',
};

const questionOf = (request: ValidationRequest): Question => ({
  requiredScopes: request.required_scopes,
  ip: request.ip ?? null,
  origin: request.origin ?? null,
  environment: request.environment ?? null,
});

/** Returns the remaining rate of a key in the answer's form. `now` is in epoch milliseconds. */
export function rateLimitOf(rate: Rate, { remaining, resetMs }: Admission, now: number): RateLimit {
  return {
    limit: rate.limit,
    window: formatDuration(rate.windowMs),
    remaining,
    reset_at: new Date(now + resetMs).toISOString(),
  };
}

/** Rounds up, so that the units are available when the caller returns. */
const secondsOf = (waitMs: number | null): number | null =>
  waitMs === null ? null : Math.ceil(waitMs / 1000);

/** Builds the usage record. A refused request costs nothing, so its record has cost 0. */
function usageRecord(
  known: KnownKey,
  outcome: Outcome,
  request: ValidationRequest,
  now: number,
): UsageRecord {
  const id = newId('kuse', now);
  return {
    id,
    key_id: known.id,
    tenant_id: known.tenant,
    source: 'validation',
    outcome,
    cost: outcome === 'VALID' ? request.cost : 0,
    method: storable(request.method, 16),
    endpoint: storable(request.endpoint, 512),
    status_code: null,
    latency_ms: null,
    ip_address: storable(request.ip ?? null, 45),
    origin: storable(request.origin ?? null, 512),
    user_agent: storable(request.user_agent, 512),
    created_at: new Date(idTime(id)).toISOString(),
  };
}

/** Cuts and cleans a text for storage. Requests over HTTP are already checked; a caller in the process passes headers unchanged. */
function storable(text: string | null, length: number): string | null {
  if (text === null || (text.length <= length && text.isWellFormed() && !text.includes('\0'))) return text;
  return text.slice(0, length).toWellFormed().replaceAll('\0', '');
}
