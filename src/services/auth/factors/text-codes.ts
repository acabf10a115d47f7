import { randomInt } from 'node:crypto';
import type { Message } from '../../../../generated/auth/types.ts';
import type { Sealer } from '../../../lib/seal.ts';
import type { Deps } from './deps.ts';
import type { KnownApp } from '../directory/directory.ts';
import { TextsNotConfigured, TooManyAttempts } from '../errors.ts';
import { lookOf } from '../look/look.ts';
import { askedBy } from '../../../notify/message-limits.ts';
import type { Write } from '../directory/writes.ts';

/** The purpose of the MAC of texted codes: a plain hash does not protect six digits. */
const purpose = 'auth/codes/v1';

/** The stored form of a code; `subject` is what it is for, so it is valid for nothing else. */
export const codeMac = (sealer: Sealer, tenant: string, subject: string, code: string): Buffer =>
  sealer.mac(purpose, tenant, `${subject}\0${code}`);

/** The stored form of a number that must not be readable. */
export const phoneMac = (sealer: Sealer, tenant: string, phone: string): Buffer =>
  sealer.mac(purpose, tenant, `phone\0${phone}`);

interface Text {
  /** The phone number. */
  readonly to: string;
  readonly kind: Extract<Message['kind'], 'phone_code' | 'mfa_code'>;
  readonly userId: string | null;
  /** The IP address of the request. */
  readonly ip: string | null;
}

/** Dependencies of texting. */
export type TextDeps = Pick<Deps, 'messages' | 'sealer'>;

/** Texts a new code within the transaction and returns the code. @throws Invalid, RateLimited */
export async function textCode(deps: TextDeps, write: Write, app: KnownApp, text: Text): Promise<string> {
  if (!deps.messages.canText) throw TextsNotConfigured();
  const sent = await tryTextCode(deps, write, app, text);
  if ('wait' in sent) throw TooManyAttempts(sent.wait);
  return sent.code;
}

/** Texts a new code if the number may receive one now; otherwise returns the seconds to wait. */
export async function tryTextCode(
  { messages }: TextDeps,
  write: Write,
  app: KnownApp,
  { to, kind, userId, ip }: Text,
): Promise<{ code: string } | { wait: number }> {
  const { name } = await lookOf(write.sql, app, null);
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const draft = {
    channel: 'sms',
    to,
    kind,
    subject: '',
    text: `${code} is your code for ${name}. It is valid for 5 minutes. Do not share it with anyone.`,
    html: null,
    token: null,
    code,
    userId,
  } as const;
  // A caller who asks to sign in by a number has not yet proven that the account is theirs.
  const account = kind === 'mfa_code' ? userId : null;
  const wait = await messages.trySend(write, draft, askedBy(account, ip));
  return wait > 0 ? { wait } : { code };
}
