import type { Deps } from './deps.ts';
import type { KnownApp } from './directory.ts';
import { linkOf } from './issuer.ts';
import { resetPasswordText, verifyEmailText } from './message-texts.ts';
import type { OneTimePurpose } from './one-time.store.ts';
import { issueOneTime } from './one-time.ts';
import type { Write } from './writes.ts';

const texts = { verify_email: verifyEmailText, reset_password: resetPasswordText } satisfies Record<
  OneTimePurpose,
  unknown
>;

/** Sends a new token to the address, with the transaction. */
export async function sendOneTime(
  { messages, issuer }: Pick<Deps, 'messages' | 'issuer'>,
  write: Write,
  app: KnownApp,
  tag: string,
  purpose: OneTimePurpose,
  { id, email }: { readonly id: string; readonly email: string },
): Promise<void> {
  const token = await issueOneTime(write, tag, purpose, id, email);
  await messages.send(write, app, {
    ...texts[purpose](app.name, linkOf(issuer, app, purpose, token)),
    channel: 'email',
    kind: purpose,
    to: email,
    token,
    code: null,
    userId: id,
  });
}
