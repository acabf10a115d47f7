import { randomInt } from 'node:crypto';
import type { Message } from '../../../generated/auth/types.ts';
import type { Sealer } from '../../lib/seal.ts';
import type { Deps } from './deps.ts';
import type { KnownApp } from './directory.ts';
import { TextsNotConfigured, TooManyAttempts } from './errors.ts';
import { longestQuotaSeconds, secondsToText } from './text-quota.ts';
import { textSendStore } from './text-sends.store.ts';
import type { Write } from './writes.ts';

/** What codes in text messages are hashed for: six digits hide behind no plain hash. */
const purpose = 'auth/codes/v1';

/** As a code is stored; `subject` is what it is for, so a code is good for nothing else. */
export const codeMac = (sealer: Sealer, tenant: string, subject: string, code: string): Buffer =>
  sealer.mac(purpose, tenant, `${subject}\0${code}`);

/** As a number is remembered where it is not to be read. */
export const phoneMac = (sealer: Sealer, tenant: string, phone: string): Buffer =>
  sealer.mac(purpose, tenant, `phone\0${phone}`);

interface Text {
  /** The phone number. */
  readonly to: string;
  readonly kind: Extract<Message['kind'], 'phone_code' | 'mfa_code'>;
  readonly userId: string | null;
}

/** What texting needs. */
export type TextDeps = Pick<Deps, 'messages' | 'sealer'>;

/** Texts a new code with the transaction and answers it. @throws Invalid, RateLimited */
export async function textCode(deps: TextDeps, write: Write, app: KnownApp, text: Text): Promise<string> {
  if (!deps.messages.canText) throw TextsNotConfigured();
  const sent = await tryTextCode(deps, write, app, text);
  if ('wait' in sent) throw TooManyAttempts(sent.wait);
  return sent.code;
}

/** Texts a new code if one may go to the number now; else says how many seconds it has to wait. */
export async function tryTextCode(
  { messages, sealer }: TextDeps,
  write: Write,
  app: KnownApp,
  { to, kind, userId }: Text,
): Promise<{ code: string } | { wait: number }> {
  const store = textSendStore(write.sql);
  const mac = phoneMac(sealer, write.tenant, to);
  const wait = secondsToText(await store.agesLocked(write.tenant, mac, longestQuotaSeconds));
  if (wait > 0) return { wait };
  await store.note(write.tenant, mac);
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  await messages.send(write, app, {
    channel: 'sms',
    to,
    kind,
    subject: '',
    text: `${code} is your code for ${app.name}. It is good for 5 minutes; tell it to nobody.`,
    html: null,
    token: null,
    code,
    userId,
  });
  return { code };
}
