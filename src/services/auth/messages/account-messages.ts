import type { Deps } from './deps.ts';
import type { KnownApp } from '../directory/directory.ts';
import { linkOf } from '../directory/issuer.ts';
import type { Asked } from '../../../notify/message-limits.ts';
import { lookOf } from '../look/look.ts';
import { mailOf } from './mail.ts';
import { resetPasswordMail, verifyEmailMail } from './message-texts.ts';
import type { OneTimePurpose } from '../directory/one-time.store.ts';
import { issueOneTime } from '../directory/one-time.ts';
import type { Write } from '../directory/writes.ts';

const mails = { verify_email: verifyEmailMail, reset_password: resetPasswordMail } satisfies Record<
  OneTimePurpose,
  unknown
>;

/** Sends a new token to the address, within the transaction. @throws RateLimited if a limit of messages is reached */
export async function sendOneTime(
  { messages, issuer }: Pick<Deps, 'messages' | 'issuer'>,
  write: Write,
  app: KnownApp,
  tag: string,
  purpose: OneTimePurpose,
  { id, email }: { readonly id: string; readonly email: string },
  asked: Asked,
): Promise<void> {
  const token = await issueOneTime(write, tag, purpose, id, email);
  const look = await lookOf(write.sql, app, null);
  await messages.send(
    write,
    {
      ...mailOf(mails[purpose](look.name, linkOf(issuer, app, purpose, token)), look),
      channel: 'email',
      kind: purpose,
      to: email,
      token,
      code: null,
      userId: id,
    },
    asked,
  );
}
