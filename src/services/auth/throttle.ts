import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';

/** Who tries to prove who they are, and from where. */
export interface Attempt {
  readonly app: string;
  /** What they claim to be: an email, a username in lower case, or a user id. */
  readonly identifier: string;
  readonly ip: string;
  /** The id of a device that its token proved and that is the account's own. */
  readonly deviceId: string | null;
}

/** The counters that failures of an attempt go to. */
export interface ThrottleKeys {
  /** The account, whatever it is tried from: what its counters are cleared by. */
  readonly account: Buffer;
  /** The account as seen from one network. */
  readonly network: Buffer;
  /** The account as seen from everywhere; for a known device the account as seen from that device alone. */
  readonly everywhere: Buffer;
}

export interface Counter {
  readonly failures: number;
  /** Since the last of them. */
  readonly seconds: number;
}

/**
 * A known device has a counter of its own beside that of its network, so whoever attacks from elsewhere cannot lock the owner out.
 */
export function throttleKeys({ app, identifier, ip, deviceId }: Attempt): ThrottleKeys {
  const account = accountKey(app, identifier);
  return {
    account,
    network: digest('network', app, identifier, networkOf(ip)),
    everywhere: deviceId === null ? account : digest('device', app, identifier, deviceId),
  };
}

/** By which all counters of an account are found. */
export const accountKey = (app: string, identifier: string): Buffer => digest('account', app, identifier);

/** Seconds that have to pass after so many failures of the account from one network. */
export const networkWait = (failures: number): number =>
  failures < 5 ? 0 : Math.min(2 ** (failures - 5), 900);

/** Seconds that have to pass after so many failures of the account from everywhere: a nuisance, never a lock. */
export const everywhereWait = (failures: number): number => (failures < 50 ? 0 : Math.min(failures - 49, 30));

/** Seconds until the next attempt is heard; 0 where it is heard now. */
export function secondsToWait(network: Counter | undefined, everywhere: Counter | undefined): number {
  const left = (counter: Counter | undefined, wait: (failures: number) => number) =>
    counter === undefined ? 0 : wait(counter.failures) - counter.seconds;
  return Math.max(0, Math.ceil(Math.max(left(network, networkWait), left(everywhere, everywhereWait))));
}

/** The /24 of an IPv4 address, the /64 of an IPv6 one: what one attacker has for free. */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  const kept = address.kind() === 'ipv4' ? 3 : 8;
  return Buffer.from(address.toByteArray().slice(0, kept)).toString('hex');
}

const digest = (...parts: string[]) => createHash('sha256').update(parts.join('\0')).digest();
