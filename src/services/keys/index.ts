/**
 * API keys: issues them, answers in one call whether a request that carries one may pass, and accounts for every use.
 *
 * Terminology:
 * - Key: a named credential of a tenant, with scopes, an optional policy and an optional end.
 * - Raw key: the string that its holder sends. It is shown once, in the answer that makes it.
 * - Secret: one raw key of a key, known by its hash. A key has one current secret and, while rotations are in grace, up to
 *   four older ones that still work.
 * - Policy: limits that keys share: rate, addresses, origins, age, and the scopes they may hold.
 * - Scope: a registered name; what a key may do. A guarded scope opens a part of the platform.
 * - Validation: the question whether a request may pass, and its answer; the outcome is the answer's code.
 * - Usage record: one validation, or one request that a caller reports.
 */
import { changes as createChanges } from '../../db/changes.ts';
import type { Service, ServiceModule } from '../../http/service.ts';
import { encodeError } from './errors.ts';
import { keys as keyHandlers } from './keys.ts';
import { policies } from './policies.ts';
import { createRoom } from './room.ts';
import { scopes } from './scopes.ts';
import { settings } from './settings.ts';
import { startSweeps } from './sweeps.ts';
import { usage } from './usage.ts';
import { createValidator } from './validation/validator.ts';
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
    let sweeps: ReturnType<typeof startSweeps> | undefined;
    return {
      handlers: {
        Keys: keyHandlers({ db, write, changes, validator, rules }),
        Policies: policies({ db, write }),
        Scopes: scopes({ db, write }),
        Usage: usage({ db, validator }),
      },
      encodeError,
      async start() {
        await changes.start();
        validator.start();
        sweeps = startSweeps({ db, log });
      },
      async stop() {
        await Promise.all([sweeps?.stop(), validator.stop()]);
        await changes.stop();
      },
    };
  },
};
