import type {
  Key,
  RateLimit,
  ValidationRequest,
  ValidationResult,
} from '../../../../generated/keys/types.ts';
import { batchedReads } from '../../../db/batched-reads.ts';
import type { Changes } from '../../../db/changes.ts';
import { createLeases } from '../../../db/rates/leases.ts';
import { redisRates } from '../../../db/rates/redis-rates.ts';
import { storedRates } from '../../../db/rates/stored-rates.ts';
import { openRedis } from '../../../db/redis.ts';
import type { Database, Log } from '../../../db/index.ts';
import { createKeyCache } from './cache.ts';
import { createFold, type Fold } from './fold.ts';
import { journalStore } from './journal.store.ts';
import { createKnownKeys, rateOf } from './known-key.ts';
import { lookupStore } from './lookup.store.ts';
import { createRecorder, type Recorder } from './usage.ts';
import { createValidate, rateLimitOf, type Asker } from './validate.ts';

/** Everything involved in a validation: `Keys.validate`, the platform's own API keys, and the usage that they cause. */
export interface Validator {
  validate(request: ValidationRequest, asker: Asker): Promise<ValidationResult>;
  /** Returns the remaining rate of a key, or null without a limit. Takes no units. */
  rateLimit(key: Pick<Key, 'id' | 'tenant_id' | 'policy_id'>): Promise<RateLimit | null>;
  readonly recorder: Recorder;
  readonly fold: Fold;
  /** Writes waiting records and returns leased units. */
  stop(): Promise<void>;
}

export interface ValidatorDeps {
  readonly db: Database;
  readonly changes: Changes;
  readonly settings: {
    readonly cache: number;
    readonly usageBacklog: number;
    /** In milliseconds. */
    readonly usageRetention: number;
    readonly hourlyRetention: number;
    readonly commit: 'on' | 'off';
  };
  /** The Redis that counts rate units instead of the database. */
  readonly redisUrl?: string | undefined;
  readonly log: Log;
}

/** Milliseconds to wait for Redis, as long as for a statement of the database. */
const redisPatienceMs = 4_000;

export function createValidator({ db, changes, settings, redisUrl, log }: ValidatorDeps): Validator {
  const store = lookupStore(db.sql);
  const knownKeyOf = createKnownKeys();
  const cache = createKeyCache({
    size: settings.cache,
    changes,
    read: async (wanted) => new Map((await store.secrets(wanted)).map((row) => [row.hash, knownKeyOf(row)])),
  });
  const redis = redisUrl === undefined ? undefined : openRedis(redisUrl, log, redisPatienceMs);
  const leases = createLeases(
    redis === undefined ? storedRates(db.sql, 'keys') : redisRates(redis, 'plinth:keys:rate'),
  );
  const recorder = createRecorder({
    append: (records, counts) => journalStore(db.sql).append(records, counts, settings.commit === 'off'),
    backlog: settings.usageBacklog,
    log,
  });
  const fold = createFold(db);
  const validate = createValidate({
    cache,
    tenantOf: tenantsByTag(store),
    leases,
    recorder,
    clock: changes.clock,
  });

  return {
    validate,
    async rateLimit({ id, tenant_id, policy_id }) {
      const policy = policy_id === null ? undefined : await store.findRate(tenant_id, policy_id);
      const rate = policy === undefined ? null : rateOf(policy);
      if (rate === null) return null;
      return rateLimitOf(
        rate,
        await leases.take({ tenant: tenant_id, key: id }, rate, 0),
        changes.clock.now(),
      );
    },
    recorder,
    fold,
    async stop() {
      await Promise.all([leases.stop(), recorder.stop()]);
      await redis?.quit();
    },
  };
}

/** A tenant keeps its tag, so a tag that was read once stays known. */
function tenantsByTag(store: ReturnType<typeof lookupStore>) {
  const known = new Map<string, string>();
  const read = batchedReads<string, string>(
    async (tags) => {
      for (const { tag, tenant_id } of await store.tenants(tags)) known.set(tag, tenant_id);
      return known;
    },
    (tag) => tag,
  );
  return (tag: string) => known.get(tag) ?? read(tag);
}
