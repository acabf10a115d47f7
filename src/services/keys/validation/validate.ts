import type {
  Outcome,
  RateLimit,
  UsageRecord,
  ValidationRequest,
  ValidationResult,
} from '../../../../generated/keys/types.ts';
import { formatDuration } from '../../../lib/durations.ts';
import { idTime, newId } from '../../../lib/ids.ts';
import type { KeyCache } from './cache.ts';
import { judge, uncheckedOf, type Question } from './judgement.ts';
import { viewAt, type KnownKey } from './known-key.ts';
import type { Leases } from './leases.ts';
import type { Admission, Rate } from './rates.ts';
import { hashRawKey, parseRawKey } from './raw-key.ts';
import type { Recorder } from './usage.ts';

/** Who asks. The operator may ask about the keys of every tenant, all others about their own. */
export interface Asker {
  readonly tenant: string;
  readonly operator: boolean;
}

/**
 * Whether a request that carries a raw key may pass (5.3). A negative answer is an answer; throws `RateLimited` when uses
 * arrive faster than they can be stored, `Unavailable` when the store cannot say.
 */
export type Validate = (request: ValidationRequest, asker: Asker) => Promise<ValidationResult>;

export interface ValidateDeps {
  readonly cache: KeyCache;
  /** The tenant that a raw key's tag names. */
  readonly tenantOf: (tag: string) => string | undefined | Promise<string | undefined>;
  readonly leases: Leases;
  readonly recorder: Recorder;
}

export function createValidate({ cache, tenantOf, leases, recorder }: ValidateDeps): Validate {
  /** Check 1: form and check digits, a known hash, the right tenant. Who is not the operator looks among its own keys only. */
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
  ): Promise<string | null> {
    if (request.record === 'none') return null;
    const use = usageRecord(known, outcome, request);
    return request.record === 'async' ? recorder.defer(use) : await recorder.keep(use);
  }

  return async (request, asker) => {
    if (request.record !== 'none') recorder.checkRoom();
    const known = await find(request.raw_key, asker);
    if (known === undefined) return notFound;
    const now = Date.now();
    const question = questionOf(request);
    let outcome = judge(known, question, now);
    const rate = known.policy?.rate ?? null;
    let admission: Admission | null = null;
    if (rate !== null) {
      // What is refused already only reads the count.
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
      usage_id: await record(known, outcome, request),
    };
  };
}

/** The same for a key that does not exist and one of another tenant. It is not recorded: there is nobody to record it for. */
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

/** What is left of a key's rate, as it is answered. `now` in epoch milliseconds. */
export function rateLimitOf(rate: Rate, { remaining, resetMs }: Admission, now: number): RateLimit {
  return {
    limit: rate.limit,
    window: formatDuration(rate.windowMs),
    remaining,
    reset_at: new Date(now + resetMs).toISOString(),
  };
}

/** Rounded up, so that the units are there when the caller comes back. */
const secondsOf = (waitMs: number | null): number | null =>
  waitMs === null ? null : Math.ceil(waitMs / 1000);

/** What is refused costs nothing, so its record says 0. */
function usageRecord(known: KnownKey, outcome: Outcome, request: ValidationRequest): UsageRecord {
  const id = newId('kuse');
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

/** Requests over HTTP are checked already; a caller in the process passes on headers as they came. */
function storable(text: string | null, length: number): string | null {
  if (text === null || (text.length <= length && text.isWellFormed() && !text.includes('\0'))) return text;
  return text.slice(0, length).toWellFormed().replaceAll('\0', '');
}
