import type { Clock } from '../db/clock.ts';
import { SettingError } from '../lib/settings.ts';
import { httpDriver } from './http-driver.ts';
import type { Channel, MessageDriver } from './message.ts';
import type { MessageSettings } from './settings.ts';
import { smtpDriver } from './smtp-driver.ts';

/** `mailbox` keeps messages for developers to read; without a driver, messages wait. */
export type Way = MessageDriver | 'mailbox' | undefined;

/** What the ways of messages depend on, besides the settings. */
interface Surroundings {
  /** The prefix of the names in the environment: `PLINTH_<SERVICE>`. */
  readonly prefix: string;
  readonly production: boolean;
  readonly clock: Clock;
}

/** The way in which messages of each channel leave. @throws SettingError if the settings contradict one another */
export const waysOf = (
  {
    mail,
    mailFrom,
    smtpUrl,
    sms,
    smsUrl,
    smsSecret,
  }: Pick<MessageSettings, 'mail' | 'mailFrom' | 'smtpUrl' | 'sms' | 'smsUrl' | 'smsSecret'>,
  { prefix, production, clock }: Surroundings,
): Record<Channel, Way> => ({
  email: way({
    production,
    chosen: { name: `${prefix}_MAIL`, value: mail },
    url: { name: `${prefix}_SMTP_URL`, value: smtpUrl },
    driver: () => smtpDriver(smtpUrl, mailFrom),
  }),
  sms: way({
    production,
    chosen: { name: `${prefix}_SMS`, value: sms },
    url: { name: `${prefix}_SMS_URL`, value: smsUrl },
    driver: () => httpDriver(smsUrl, smsSecret, clock),
  }),
});

interface NamedValue {
  readonly name: string;
  readonly value: string;
}

interface Choice {
  readonly production: boolean;
  readonly chosen: NamedValue;
  readonly url: NamedValue;
  readonly driver: () => MessageDriver;
}

/** `auto` uses a configured URL; in production nobody reads a mailbox, so messages in it would be lost. */
function way({ production, chosen, url, driver }: Choice): Way {
  const isSet = url.value !== '';
  if (chosen.value === 'outbox' && production)
    throw new SettingError(`${chosen.name} must not be outbox in production, where nobody would read it`);
  if (chosen.value === 'outbox') return 'mailbox';
  if (isSet) return driver();
  if (chosen.value !== 'auto')
    throw new SettingError(`${chosen.name} is ${chosen.value}, so ${url.name} must be set`);
  return production ? undefined : 'mailbox';
}
