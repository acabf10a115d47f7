/**
 * API keys: issues them, decides in one call whether a request that carries a key may pass, and accounts for every use.
 *
 * Terminology:
 * - Key: a named credential of a tenant, with scopes, an optional policy and an optional expiry.
 * - Raw key: the string that its holder sends. It is shown once, in the response that creates it.
 * - Secret: one raw key of a key, known by its hash. A key has one current secret and, while rotations are in grace, up to four
 *   older ones that still work.
 * - Policy: limits that keys share: rate, addresses, origins, age, and the scopes that the keys may hold.
 * - Scope: a registered name for what a key may do. A guarded scope gives access to a part of the platform.
 * - Validation: the question whether a request may pass, and its answer; the outcome is the code of the answer.
 * - Usage record: one validation, or one request that a caller reports.
 */
import { createChanges } from '../../db/changes.ts';
import type { Service, ServiceModule } from '../../http/service.ts';
import { keyCredential, remoteKeyCredential } from './credentials.ts';
import { encodeError } from './errors.ts';
import { keys as keyHandlers } from './keys.ts';
import { policies } from './policies.ts';
import { createRoom } from './room.ts';
import { scopes } from './scopes.ts';
import { settings } from './settings.ts';
import { expirySweep, remainsSweep } from './sweeps.ts';
import { usage } from './usage.ts';
import { createValidator } from './validation/validator.ts';
import { usageSweeps } from './validation/retention.ts';
import { createWriter } from './writes.ts';

export const keys: ServiceModule<typeof settings> = {
  name: 'keys',
  migrations: new URL('./migrations/', import.meta.url),
  settings,
  create({ db, settings, log }): Service {
    const changes = createChanges({ db, schema: 'keys', log });
    const validator = createValidator({
      db,
      changes,
      settings,
      redisUrl: settings.redisUrl || undefined,
      log,
    });
    const write = createWriter({ db, changes });
    const rules = { room: createRoom(settings.maxPerTenant), strictScopes: settings.strictScopes };
    return {
      handlers: {
        Keys: keyHandlers({ db, write, changes, validator, rules }),
        Policies: policies({ db, write }),
        Scopes: scopes({ db, write }),
        Usage: usage({ db, clock: changes.clock, validator }),
      },
      encodeError,
      credentials: [keyCredential(validator)],
      sweeps: [
        expirySweep(db),
        remainsSweep(db),
        changes.sweep,
        validator.fold.sweep,
        ...usageSweeps(db, settings),
      ],
      outbox: {},
      queues: () => [{ queue: 'keys.usage', ...validator.recorder.load() }],
      start: () => changes.start(),
      async stop() {
        await validator.stop();
        await changes.stop();
      },
    };
  },
  remoteCredentials: (remote, operator) => ({ credentials: [remoteKeyCredential(remote, operator)] }),
};
