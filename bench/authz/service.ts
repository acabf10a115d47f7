/** The service inside this process, as its neighbours in the all-in-one server call it: without network or serialisation. */
import type { Check } from '../../generated/authz/types.ts';
import { createEngine } from '../../src/db/engine/index.ts';
import type { Database } from '../../src/db/index.ts';
import type { Context } from '../../src/http/context.ts';
import { withinTenant } from '../../src/http/asker.ts';
import { portCall } from '../../src/http/port-call.ts';
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
    engine: createEngine({ db, log }),
    settings: readSettings(authz.settings, env),
    sealer: createSealer(Buffer.alloc(32)),
    dataDir: '.plinth',
    production: true,
    allowPrivateTargets: false,
    publicUrl: 'http://127.0.0.1:4000',
    serverUrl: 'http://127.0.0.1:4000',
    log,
    ending: new AbortController().signal,
    ports: {},
  });
  service.start();
  try {
    return await use(service.handlers);
  } finally {
    service.stop();
  }
}

const operator = { tenant: 'default', app: 'default' };

/** Returns the context of a call within a tenant. */
export const callOf = (tenant: string): Context =>
  portCall(withinTenant({ tenant, app: 'default', requestId: 'bench' }), 'authz', operator);

/** Returns a request with this question that may be answered from memory. */
export const asked = (check: Check) => ({ body: { ...check, fresh: false } });
