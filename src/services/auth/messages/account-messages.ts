import type { Deps } from './deps.ts';
import type { KnownApp } from '../directory/directory.ts';
import { linkOf } from '../directory/issuer.ts';
import type { Asked } from '../../../notify/message-limits.ts';
import { resetPasswordText, verifyEmailText } from './message-texts.ts';
import type { OneTimePurpose } from '../directory/one-time.store.ts';
import { issueOneTime } from '../directory/one-time.ts';
import type { Write } from '../directory/writes.ts';

const texts = { verify_email: verifyEmailText, reset_password: resetPasswordText } satisfies Record<
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
  await messages.send(
    write,
    {
      ...texts[purpose](app.name, linkOf(issuer, app, purpose, token)),
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
