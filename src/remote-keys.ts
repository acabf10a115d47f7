import { createPlinth, isPlinthError } from '../sdk/src/index.ts';
import type { Config } from './config.ts';
import type { ValidateKey } from './http/credentials.ts';
import { Internal, Unauthenticated, Unavailable } from './lib/errors.ts';

/**
 * A `keys` service elsewhere (`PLINTH_KEYS_URL`) as the judge of API keys, by its SDK. Without an answer there is no caller:
 * `Unavailable`, never a guess.
 */
export function remoteKeys({ url, token }: Config['remotes'][string]): ValidateKey {
  const plinth = createPlinth({ baseUrl: url, serviceUrls: { keys: url }, token, timeout: 5_000 });
  return async ({ origin, ...facts }, requestId) => {
    const body = { ...facts, ...(origin === null ? {} : { origin }), record: 'async' as const };
    try {
      return await plinth.keys.keys.validate({ body }, { headers: { 'X-Request-ID': requestId } });
    } catch (error) {
      const status = isPlinthError(error) ? error.status : undefined;
      // What the contract of `keys` forbids, for example as an origin, belongs to no valid key.
      if (status === 400) throw Unauthenticated(undefined, { cause: error });
      if (status === 401 || status === 403) throw Internal(error);
      throw Unavailable('keys unavailable', { cause: error });
    }
  };
}
