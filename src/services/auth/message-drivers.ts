import type { Message } from '../../../generated/auth/types.ts';
import { SettingError, type SettingsOf } from '../../lib/settings.ts';
import type { MessageContent } from './message-content.ts';
import type { DueMessage } from './messages.store.ts';
import type { settings } from './settings.ts';
import { smsDriver } from './sms-driver.ts';
import { smtpDriver } from './smtp-driver.ts';

/** A message as it is handed over. */
export type OutgoingMessage = Pick<DueMessage, 'id' | 'to' | 'subject' | 'mail_from'> &
  Pick<MessageContent, 'text' | 'html'>;

/** A way by which messages leave. */
export interface MessageDriver {
  /** Hands a message over, within a minute. What it throws means that it is to be tried again. */
  send(message: OutgoingMessage): Promise<void>;
  close(): Promise<void>;
}

/** `outbox` keeps messages to be read by developers; without a driver they wait. */
export type Way = MessageDriver | 'outbox' | undefined;

type MessageSettings = Pick<
  SettingsOf<typeof settings>,
  'mail' | 'mailFrom' | 'smtpUrl' | 'sms' | 'smsUrl' | 'smsSecret'
>;

/** By which way messages of each channel leave. @throws SettingError where the settings contradict one another. */
export const waysOf = (
  { mail, mailFrom, smtpUrl, sms, smsUrl, smsSecret }: MessageSettings,
  production: boolean,
): Record<Message['channel'], Way> => ({
  email: way('MAIL', mail, smtpUrl, production, { smtp: () => smtpDriver(smtpUrl, mailFrom) }),
  sms: way('SMS', sms, smsUrl, production, { http: () => smsDriver(smsUrl, smsSecret) }),
});

const urlNames = { MAIL: 'PLINTH_AUTH_SMTP_URL', SMS: 'PLINTH_AUTH_SMS_URL' } as const;

/** Who sets a URL wants it to be used; in production nobody reads an outbox, so messages would be lost in it. */
function way(
  name: 'MAIL' | 'SMS',
  chosen: string,
  url: string,
  production: boolean,
  drivers: Readonly<Record<string, () => MessageDriver>>,
): Way {
  if (chosen === 'outbox' && production)
    throw new SettingError(`PLINTH_AUTH_${name} must not be outbox when NODE_ENV is production`);
  const automatic = url === '' ? undefined : Object.values(drivers)[0];
  if (chosen === 'auto') return automatic?.() ?? (production ? undefined : 'outbox');
  if (chosen === 'outbox') return 'outbox';
  if (url === '')
    throw new SettingError(`PLINTH_AUTH_${name} is ${chosen}, so ${urlNames[name]} must be set`);
  return drivers[chosen]?.();
}
