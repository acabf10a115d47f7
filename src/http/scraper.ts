import type { IncomingMessage } from 'node:http';
import { Forbidden, Unauthenticated } from '../lib/errors.ts';
import { isOperators, type Operator } from './access.ts';
import { covers, nobody, type Caller } from './caller.ts';
import type { Exchange } from './exchange.ts';

export interface ScraperOptions {
  readonly identify: (req: IncomingMessage, exchange: Exchange) => Caller | Promise<Caller>;
  readonly operator: Operator;
  readonly production: boolean;
}

/** Checks that the caller may read the metrics. Rejects with `Unauthenticated` or `Forbidden` otherwise. */
export type Scraper = (req: IncomingMessage, exchange: Exchange) => Promise<void>;

const scope = 'metrics:read';

/**
 * Metrics reveal which services are used and how much. Outside production only the local machine can reach the server; in
 * production the local machine reads them without a credential, unless a proxy on it forwards for another client.
 */
export const scraper =
  ({ identify, operator, production }: ScraperOptions): Scraper =>
  async (req, exchange) => {
    if (!production || isLocal(req)) return;
    const caller = await identify(req, exchange);
    if (caller === nobody)
      throw Unauthenticated(
        `a credential of the operator that holds ${scope} is needed, or a call from the own machine`,
      );
    if (!isOperators(caller, operator) || !covers(caller.scopes, scope))
      throw Forbidden(`missing scope ${scope} in the operator's app`);
  };

const forwarding = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'];

function isLocal({ socket: { remoteAddress = '' }, headers }: IncomingMessage): boolean {
  const local = /^(127\.|::1$|::ffff:127\.)/.test(remoteAddress);
  return local && forwarding.every((name) => headers[name] === undefined);
}
