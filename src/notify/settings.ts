import type { Quota } from '../db/quotas.ts';
import { parseDuration } from '../lib/durations.ts';
import { choice, text, type Setting, type SettingsOf } from '../lib/settings.ts';

/** At most this many within any interval of this length. */
export type Limit = Pick<Quota, 'most' | 'windowMs'>;

/** The settings of a service that sends messages, by the names in its code. */
export type MessageSettings = SettingsOf<ReturnType<typeof messageSettings>>;

/** @param prefix of the names in the environment: `PLINTH_<SERVICE>` */
export const messageSettings = (prefix: string) => ({
  /** `auto` is `smtp` when the URL is set, otherwise `outbox` outside production: the mailbox of a developer. */
  mail: choice(`${prefix}_MAIL`, 'auto', ['auto', 'outbox', 'smtp']),
  smtpUrl: text(`${prefix}_SMTP_URL`, '', 'an smtp:// or smtps:// URL', /^(smtps?:\/\/\S+)?$/),
  mailFrom: text(`${prefix}_MAIL_FROM`, 'Plinth <no-reply@localhost>', 'an address', /^[^\r\n]{3,320}$/),
  /** `auto` is `http` when the URL is set, otherwise `outbox` outside production. */
  sms: choice(`${prefix}_SMS`, 'auto', ['auto', 'outbox', 'http']),
  smsUrl: text(`${prefix}_SMS_URL`, '', 'an http:// or https:// URL', /^(https?:\/\/\S+)?$/),
  smsSecret: text(`${prefix}_SMS_SECRET`, '', 'whsec_ and base64', /^(whsec_[A-Za-z0-9+/]+=*)?$/),
  /**
   * Limits on messages sent, counted in the database for all processes, in production and outside. Texts to one number count
   * together; all other messages are counted for each kind separately.
   */
  textsPerNumber: limit(`${prefix}_TEXTS_PER_NUMBER`, '3/10m,10/24h'),
  textsPerAccount: limit(`${prefix}_TEXTS_PER_ACCOUNT`, '6/1h,20/24h'),
  /** A prefix is the calling code of a country and the next three digits: premium numbers are allocated in blocks. */
  textsPerPrefix: limit(`${prefix}_TEXTS_PER_PREFIX`, '100/1h,300/24h'),
  textsPerCountry: limit(`${prefix}_TEXTS_PER_COUNTRY`, '300/1h,1000/24h'),
  textsPerNetwork: limit(`${prefix}_TEXTS_PER_NETWORK`, '20/1h,100/24h'),
  textsPerApp: limit(`${prefix}_TEXTS_PER_APP`, '500/1h,2000/24h'),
  mailsPerAddress: limit(`${prefix}_MAILS_PER_ADDRESS`, '6/1h'),
  mailsPerAccount: limit(`${prefix}_MAILS_PER_ACCOUNT`, '30/1h,100/24h'),
  mailsPerNetwork: limit(`${prefix}_MAILS_PER_NETWORK`, '60/1h,300/24h'),
  mailsPerApp: limit(`${prefix}_MAILS_PER_APP`, '2000/1h,20000/24h'),
  /** Notices are held back by this limit alone. */
  noticesPerAddress: limit(`${prefix}_NOTICES_PER_ADDRESS`, '20/1h'),
});

/** Limits on the number of messages per time window; an empty list means no limit. */
function limit(name: string, fallback: string): Setting<readonly Limit[]> {
  return {
    name,
    default: fallback,
    rule: 'off, or at most 4 like 3/10m,10/24h: counts from 1 to 1000000 in windows from 1m to 720h',
    parse(value) {
      if (value === 'off') return [];
      const limits = value.split(',').map(parseLimit);
      return limits.length <= 4 && limits.every((one) => one !== undefined) ? limits : undefined;
    },
  };
}

function parseLimit(value: string): Limit | undefined {
  const [, count, window] = /^\s*(\d{1,7})\/([0-9a-z.]{2,20})\s*$/.exec(value) ?? [];
  if (count === undefined || window === undefined) return undefined;
  try {
    const [most, windowMs] = [Number(count), parseDuration(window)];
    const within = most >= 1 && most <= 1_000_000 && windowMs >= 60_000 && windowMs <= 720 * 3_600_000;
    return within ? { most, windowMs } : undefined;
  } catch {
    return undefined;
  }
}
