import type { Keys } from '../../generated/keys/server.ts';
import type { Context } from './context.ts';
import type { ValidateKey } from './credentials.ts';
import { internalCall } from './internal-call.ts';
import type { Handlers } from './service.ts';

/**
 * The `keys` service in this process as the judge of API keys. Uses are recorded, but no request waits for the record;
 * the key may be of any tenant, so the operator asks.
 */
export function keysPort(handlers: Handlers, operatorTenant: string): ValidateKey {
  // The runtime has checked at the start that the handlers are all there.
  const { validate } = handlers['Keys'] as unknown as Pick<Keys<Context>, 'validate'>;
  return ({ origin, ...facts }, requestId) =>
    validate(
      {
        body: {
          ...facts,
          ...(origin === null ? {} : { origin }),
          required_scopes: [],
          cost: 1,
          record: 'async',
        },
      },
      internalCall(requestId, operatorTenant, facts.ip),
    );
}
