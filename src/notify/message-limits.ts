import parsePhoneNumber from 'libphonenumber-js/max';
import type { Sql } from '../db/index.ts';
import type { Log } from '../db/log.ts';
import { quotas } from '../db/quotas.ts';
import { networkOf } from '../lib/addresses.ts';
import type { Sealer } from '../lib/seal.ts';
import type { Draft } from './message.ts';
import type { Limit, MessageSettings } from './settings.ts';

/** The origin of a request for a message. */
export interface Asked {
  /** The user, if it is known who asks. */
  readonly account: string | null;
  readonly network: string | null;
}

export const askedBy = (account: string | null, ip: string | null): Asked => ({
  account,
  network: ip === null ? null : networkOf(ip),
});

/** Stands for the platform itself, or a program that the app's owner trusts. */
export const askedByNobody: Asked = { account: null, network: null };

/** The limits, by the names of their settings. */
type LimitName = keyof MessageSettings & `${'texts' | 'mails' | 'notices'}Per${string}`;
export type LimitSettings = Readonly<Record<LimitName, readonly Limit[]>>;

/** One counter that a message counts against. */
export interface Counted {
  readonly name: LimitName;
  readonly subject: string;
}

/** The members of a message that its limits depend on. */
export type Limited = Pick<Draft<string>, 'kind' | 'channel' | 'to'>;

/**
 * The counters of a message. Each kind has its own, so that messages strangers can request do not exhaust what account owners
 * need; only texts to one number are counted together, because each code allows five more guesses.
 */
export function countersOf(
  { kind, channel, to }: Limited,
  app: string,
  { account, network }: Asked,
): Counted[] {
  const of = (name: LimitName, subject: string | null) =>
    subject === null ? [] : [{ name, subject: `${app} ${kind} ${subject}` }];
  if (channel === 'email')
    return [
      ...of('mailsPerAddress', to),
      ...of('mailsPerAccount', account),
      ...of('mailsPerNetwork', network),
      ...of('mailsPerApp', ''),
    ];
  const { country, prefix } = placeOf(to);
  return [
    { name: 'textsPerNumber', subject: to },
    ...of('textsPerAccount', account),
    ...of('textsPerPrefix', prefix),
    ...of('textsPerCountry', country),
    ...of('textsPerNetwork', network),
    ...of('textsPerApp', ''),
  ];
}

/** The counter of a notice: its address alone, which only somebody who acts in the account can exhaust. */
export const noticeCounter = ({ kind, to }: Limited, app: string): Counted => ({
  name: 'noticesPerAddress',
  subject: `${app} ${kind} ${to}`,
});

/**
 * The calling code of a number, and the calling code with the next three digits, which identify the block of an operator or an
 * area.
 */
export function placeOf(number: string): { country: string; prefix: string } {
  const country = `+${parsePhoneNumber(number)?.countryCallingCode ?? ''}`;
  return { country, prefix: number.slice(0, country.length + 3) };
}

/** A count within the transaction of the message. */
interface Count {
  readonly sql: Sql;
  readonly tenant: string;
  readonly app: string;
}

export interface MessageLimits {
  /** Counts a message within the transaction. Returns the seconds to wait if a limit is reached, and then counts nothing. */
  take(count: Count, message: Limited, asked: Asked): Promise<number>;
  /** Does the same as `take` for a notice, which has a limit of its own. */
  takeNotice(count: Count, message: Limited): Promise<number>;
}

/** Milliseconds between two log lines about the same limit. */
const quietMs = 60_000;

interface LimitsDeps {
  /** The schema of the service, which has the table of quotas. */
  readonly schema: string;
  readonly settings: LimitSettings;
  /** Whether callers are told apart by network: on loopback all come from the same one. */
  readonly byNetwork: boolean;
  readonly sealer: Sealer;
  readonly log: Log;
}

/** Limits of messages that hold for all processes. */
export function createMessageLimits({ schema, settings, byNetwork, sealer, log }: LimitsDeps): MessageLimits {
  const counts = quotas(schema);
  /** The purpose of the MAC of counted subjects: a copy of the database reveals no number and no address. */
  const purpose = `${schema}/quotas/v1`;
  const told = new Map<LimitName, number>();

  /** The operator learns which limit to look at; the log does not name the affected user. */
  function tell(name: LimitName, kind: string): void {
    const now = performance.now();
    if (now - (told.get(name) ?? -Infinity) < quietMs) return;
    told.set(name, now);
    log.warn({ limit: name, kind }, 'a limit of messages is reached: see the settings of the service');
  }

  async function takeAll(sql: Sql, tenant: string, kind: string, counted: readonly Counted[]) {
    const wanted = counted.flatMap(({ name, subject }) =>
      settings[name].map(({ most, windowMs }) => ({
        name,
        most,
        windowMs,
        key: sealer.mac(purpose, tenant, `${name} ${windowMs} ${subject}`),
      })),
    );
    const waits = await counts.take(sql, tenant, wanted);
    for (const [at, { name }] of wanted.entries()) if (waits[at]! > 0) tell(name, kind);
    return Math.max(0, ...waits);
  }

  return {
    take({ sql, tenant, app }, message, { account, network }) {
      const asked = { account, network: byNetwork ? network : null };
      return takeAll(sql, tenant, message.kind, countersOf(message, app, asked));
    },
    takeNotice: ({ sql, tenant, app }, message) =>
      takeAll(sql, tenant, message.kind, [noticeCounter(message, app)]),
  };
}
