import { accountStore } from './accounts.store.ts';
import type { Deps } from './deps.ts';
import { InvalidToken } from './errors.ts';
import { oneTimeStore } from './one-time.store.ts';
import { presentedOneTime } from './one-time.ts';

/** Takes the token of a message: whoever has it reads the mail of the address. @throws Invalid */
export async function verifyEmail({ db, directory, write }: Deps, token: string): Promise<void> {
  const { tenant, hash } = await presentedOneTime(directory, 'verify_email', token);
  const known = await oneTimeStore(db.sql).find(tenant, 'verify_email', hash);
  if (!known) throw InvalidToken();
  const { app_id: app, subject: userId, email } = known;
  await write({ tenant, app, actor: userId }, async ({ sql, emit }) => {
    const taken = await oneTimeStore(sql).consume(tenant, 'verify_email', hash);
    if (!taken || !(await accountStore(sql).verifyEmail(tenant, app, userId, email))) throw InvalidToken();
    emit('user.email_verified', userId, { user_id: userId });
  });
}
