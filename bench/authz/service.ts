/** The service inside this process, as its neighbours in the all-in-one server call it: no network, no serialisation. */
import type { Check } from '../../generated/authz/types.ts';
import type { Database } from '../../src/db/index.ts';
import type { Context } from '../../src/http/context.ts';
import { internalCall } from '../../src/http/internal-call.ts';
import { createSealer } from '../../src/lib/seal.ts';
import { readSettings } from '../../src/lib/settings.ts';
import { authz } from '../../src/services/authz/index.ts';
import { log } from '../place.ts';

type Handlers = ReturnType<typeof authz.create>['handlers'];

/** Runs `use` with the handlers of a service that has nothing in memory yet. */
export async function withService<Result>(
  db: Database,
  use: (handlers: Handlers) => Promise<Result>,
  env: Record<string, string> = {},
): Promise<Result> {
  const service = authz.create({
    db,
    settings: readSettings(authz.settings, env),
    sealer: createSealer(Buffer.alloc(32)),
    production: true,
    allowPrivateTargets: false,
    prefix: '',
    log,
    ports: {},
  });
  service.start();
  try {
    return await use(service.handlers);
  } finally {
    await service.stop();
  }
}

/** The call of a tenant's own. */
export const callOf = (tenant: string): Context => internalCall('bench', tenant, '127.0.0.1');

/** A request of this question for what is in memory. */
export const asked = (check: Check) => ({ body: { ...check, fresh: false } });
