import type { IncomingMessage } from 'node:http';
import { networkOf } from '../lib/addresses.ts';
import { Internal, Invalid } from '../lib/errors.ts';
import { isRoot, type Caller } from './caller.ts';
import type { Exchange } from './exchange.ts';
import type { Fairness } from './fairness.ts';
import type { OwnCredentials, OwnIdentity } from './service.ts';

type Identify = (req: IncomingMessage, exchange: Exchange) => Caller | Promise<Caller>;

/**
 * Identifies the callers of an operation whose service knows credentials of its own; all others are identified by the credentials of
 * the platform. The service's own look-up takes a turn, as the look-up of any credential that was not seen before.
 */
export function ownOrPlatform(
  own: OwnCredentials,
  operation: string,
  { identify, fairness, busy }: { identify: Identify; fairness: Fairness; busy: () => Error },
): Identify {
  const platform: Identify = (req, exchange) => fairness.identify(identify, req, exchange, busy);
  return async (req, exchange) => {
    const { method = 'GET', url = '/', headers } = req;
    const { ip, requestId } = exchange;
    const found = await fairness.run(networkOf(ip), busy, async () =>
      own({ operation, method, url, headers, ip, requestId }),
    );
    if (found === undefined) return platform(req, exchange);
    if (isCaller(found)) return notRoot(found);
    if (headers.authorization !== undefined || headers['x-api-key'] !== undefined)
      throw Invalid('Authorization: only one credential may be given');
    headers.authorization = `Bearer ${found.bearer}`;
    return platform(req, exchange);
  };
}

/** No service hands out root: a caller that was copied from `nobody`, with its credential, would count as root. */
function notRoot(caller: Caller): Caller {
  if (isRoot(caller)) throw Internal(new Error(`a service gave ${caller.actor} a credential of root`));
  return caller;
}

const isCaller = (found: OwnIdentity): found is Caller => 'credential' in found;
