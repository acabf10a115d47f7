import { createHash } from 'node:crypto';
import type { Attempt, Waits } from '../../../db/attempts.ts';
import { networkOf } from '../../../lib/addresses.ts';

/** The identity that a caller tries to prove, and the origin of the request. */
export interface Claimant {
  readonly tenant: string;
  readonly app: string;
  /** The claimed identity: an email, a username in lower case, or a user id. */
  readonly identifier: string;
  readonly ip: string;
  /** The id of a device that belongs to the account and was proven by its token. */
  readonly deviceId: string | null;
}

/** An attempt with its counters, and which of them a success clears. */
export interface ThrottledAttempt extends Attempt {
  /** The key of the counter of the account as seen from one network. */
  readonly network: Buffer;
}

/** Waits after failures of the account from one network. */
export const networkWaits: Waits = {
  free: 5,
  seconds: [...Array.from({ length: 10 }, (_, doubled) => 2 ** doubled), 900],
};

/** Waits after failures of the account from all networks: a nuisance, never a lock. */
export const everywhereWaits: Waits = { free: 50, seconds: Array.from({ length: 30 }, (_, at) => at + 1) };

/**
 * An account has a counter for one network and one for all networks. A known device has its own counter instead of the latter, so
 * an attacker elsewhere cannot lock the owner out.
 */
export function throttled({ tenant, app, identifier, ip, deviceId }: Claimant): ThrottledAttempt {
  const account = accountKey(app, identifier);
  const network = digest('network', app, identifier, networkOf(ip));
  const everywhere = deviceId === null ? account : digest('device', app, identifier, deviceId);
  const counters = [
    { key: network, waits: networkWaits },
    { key: everywhere, waits: everywhereWaits },
  ];
  return { tenant, account, network, counters };
}

/** The key by which all counters of an account are found. */
export const accountKey = (app: string, identifier: string): Buffer => digest('account', app, identifier);

const digest = (...parts: string[]) => createHash('sha256').update(parts.join('\0')).digest();
