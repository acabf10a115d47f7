import { once } from 'node:events';
import type { LookupAddress } from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { createOutbound, type Outbound, type OutboundOptions } from '../outbound.ts';

export const strict: OutboundOptions = { allowPrivate: false, allowNetworks: [] };
export const loose: OutboundOptions = { allowPrivate: true, allowNetworks: [] };

/** Creates a client for one test, whose lookups return the `answers`, one after the other. */
export function outbound(policy: OutboundOptions, ...answers: string[][]): Outbound {
  const made = createOutbound(policy, (_hostname, _options, done) => {
    const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    done(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  });
  onTestFinished(() => made.close());
  return made;
}

/** Starts a server for one test. */
export async function server(answer: RequestListener): Promise<{ port: number; server: Server }> {
  const listening = createServer(answer).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  return { port: (listening.address() as AddressInfo).port, server: listening };
}

export const get = (url: string) => ({ url, method: 'GET', timeoutMs: 5_000, maxBytes: 1_024 }) as const;
