import { pino } from 'pino';
import type {
  IssuedKey,
  Policy,
  ValidationRequest,
  ValidationResult,
} from '../../../../../generated/keys/types.ts';
import { createChanges } from '../../../../db/changes.ts';
import type { Database } from '../../../../db/index.ts';
import { withinTenant } from '../../../../http/asker.ts';
import type { Context } from '../../../../http/context.ts';
import { portCall } from '../../../../http/port-call.ts';
import { keys as keyHandlers } from '../../keys.ts';
import { policies as policyHandlers } from '../../policies.ts';
import { createRoom } from '../../room.ts';
import { usage as usageHandlers } from '../../usage.ts';
import { createWriter } from '../../writes.ts';
import { createValidator, type ValidatorDeps } from '../validator.ts';

export type OpenKeys = Awaited<ReturnType<typeof openKeys>>;

export interface OpenKeysOptions {
  readonly settings?: Partial<ValidatorDeps['settings']>;
  readonly redisUrl?: string | undefined;
}

const defaults: ValidatorDeps['settings'] = {
  cache: 10_000,
  usageBacklog: 20_000,
  usageRetention: 90 * 86_400_000,
  hourlyRetention: 400 * 86_400_000,
  commit: 'on',
};

/**
 * The service without HTTP, as one process runs it: handlers, validator and changes on a database, already started. Its sweeps do not
 * run.
 */
export async function openKeys(db: Database, { settings, redisUrl }: OpenKeysOptions = {}) {
  const log = pino({ level: 'silent' });
  const changes = createChanges({ db, schema: 'keys', log });
  const validator = createValidator({ db, changes, settings: { ...defaults, ...settings }, redisUrl, log });
  const write = createWriter({ db, changes });
  const keys = keyHandlers({
    db,
    write,
    changes,
    validator,
    rules: { room: createRoom(1_000_000), strictScopes: 'off' },
  });
  const policies = policyHandlers({ db, write });
  const usage = usageHandlers({ db, clock: changes.clock, validator });
  await changes.start();

  return {
    changes,
    validator,
    keys,
    policies,
    usage,
    issue: (body: object = {}, context = contextOf('acme')): Promise<IssuedKey> =>
      keys.create({ body: { ...newKey, ...body } }, context),
    policy: (body: object = {}, context = contextOf('acme')): Promise<Policy> =>
      policies.create({ body: { ...newPolicy, name: `Policy ${Math.random()}`, ...body } }, context),
    validate: (
      raw_key: string,
      request: Partial<ValidationRequest> = {},
      tenant = 'acme',
    ): Promise<ValidationResult> =>
      validator.validate({ ...question, raw_key, ...request }, { tenant, operator: false }),
    async close() {
      await validator.stop();
      await changes.stop();
    },
  };
}

/** A validation with every member that has a default. */
export const question: Omit<ValidationRequest, 'raw_key'> = {
  required_scopes: [],
  cost: 1,
  method: null,
  endpoint: null,
  user_agent: null,
  record: 'none',
};

const newKey = {
  name: 'Reporting job',
  description: '',
  prefix: 'sk',
  environment: 'live',
  scopes: [],
  policy_id: null,
  owner_id: null,
  metadata: {},
  expires_at: null,
};

const newPolicy = {
  description: '',
  rate_limit: 0,
  rate_window: '1m',
  allowed_ips: [],
  allowed_origins: [],
  max_key_age: null,
  allowed_scopes: [],
  grace_period: '24h',
  require_context: false,
};

/** A caller of the tenant with every permission. */
export function contextOf(
  tenant: string,
  headers: Record<string, string | number | readonly string[]> = {},
): Context {
  return {
    ...portCall(withinTenant({ tenant, app: 'default', requestId: 'test' }), 'keys', operator),
    reply: { status: () => undefined, header: (name, value) => void (headers[name] = value) },
  };
}

const operator = { tenant: 'default', app: 'default' };
