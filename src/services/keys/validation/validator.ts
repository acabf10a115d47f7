import type {
  Key,
  RateLimit,
  ValidationRequest,
  ValidationResult,
} from '../../../../generated/keys/types.ts';
import { batchedReads } from '../../../db/batched-reads.ts';
import type { Changes } from '../../../db/changes.ts';
import { openRedis } from '../../../db/redis.ts';
import type { Database, Log } from '../../../db/index.ts';
import { createKeyCache } from './cache.ts';
import { createFold, type Fold } from './fold.ts';
import { journalStore } from './journal.store.ts';
import { createKnownKeys, rateOf } from './known-key.ts';
import { redisLeaseStore } from './leases.redis.ts';
import { leaseStore } from './leases.store.ts';
import { createLeases } from './leases.ts';
import { lookupStore } from './lookup.store.ts';
import { startRetention } from './retention.ts';
import { createRecorder, type Recorder } from './usage.ts';
import { createValidate, rateLimitOf, type Asker } from './validate.ts';

/** Everything on the way of a validation: `Keys.validate`, the platform's own API keys, and the usage they leave. */
export interface Validator {
  validate(request: ValidationRequest, asker: Asker): Promise<ValidationResult>;
  /** What is left of a key's rate; null without a limit. Takes nothing. */
  rateLimit(key: Pick<Key, 'id' | 'tenant_id' | 'policy_id'>): Promise<RateLimit | null>;
  readonly recorder: Recorder;
  readonly fold: Fold;
  /** Begins to fold usage and to drop what is older than its retention. */
  start(): void;
  /** Writes what is still waiting and gives back what was leased. */
  stop(): Promise<void>;
}

export interface ValidatorDeps {
  readonly db: Database;
  readonly changes: Changes;
  readonly settings: {
    readonly cache: number;
    readonly usageBacklog: number;
    /** Milliseconds. */
    readonly usageRetention: number;
    readonly hourlyRetention: number;
    readonly commit: 'on' | 'off';
  };
  /** Where rate units are counted instead of in the database. */
  readonly redisUrl?: string | undefined;
  readonly log: Log;
}

export function createValidator({ db, changes, settings, redisUrl, log }: ValidatorDeps): Validator {
  const store = lookupStore(db.sql);
  const knownKeyOf = createKnownKeys();
  const cache = createKeyCache({
    size: settings.cache,
    changes,
    read: async (wanted) => new Map((await store.secrets(wanted)).map((row) => [row.hash, knownKeyOf(row)])),
  });
  const redis = redisUrl === undefined ? undefined : openRedis(redisUrl, log);
  const leases = createLeases(redis === undefined ? leaseStore(db.sql) : redisLeaseStore(redis));
  const recorder = createRecorder({
    append: (records, counts) => journalStore(db.sql).append(records, counts, settings.commit === 'off'),
    backlog: settings.usageBacklog,
    log,
  });
  const fold = createFold(db, log);
  const validate = createValidate({ cache, tenantOf: tenantsByTag(store), leases, recorder });
  let retention: { stop(): Promise<void> } | undefined;

  return {
    validate,
    async rateLimit({ id, tenant_id, policy_id }) {
      const policy = policy_id === null ? undefined : await store.findRate(tenant_id, policy_id);
      const rate = policy === undefined ? null : rateOf(policy);
      if (rate === null) return null;
      return rateLimitOf(rate, await leases.take({ tenant: tenant_id, key: id }, rate, 0), Date.now());
    },
    recorder,
    fold,
    start() {
      fold.start();
      retention = startRetention(db, settings, log);
    },
    async stop() {
      await Promise.all([fold.stop(), retention?.stop(), leases.stop(), recorder.stop()]);
      await redis?.quit();
    },
  };
}

/** A tenant keeps its tag, so what was read once is known for ever. */
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
