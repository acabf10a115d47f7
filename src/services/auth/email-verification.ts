import { accountStore } from './accounts.store.ts';
import type { Deps } from './deps.ts';
import { InvalidToken } from './errors.ts';
import { oneTimeStore, type OneTime } from './one-time.store.ts';
import { presentedOneTime } from './one-time.ts';

/** What the token of a message verifies. @throws Invalid */
export async function verificationOf(
  { db, directory }: Pick<Deps, 'db' | 'directory'>,
  token: string,
): Promise<OneTime & { readonly tenant: string; readonly hash: Buffer }> {
  const { tenant, hash } = await presentedOneTime(directory, 'verify_email', token);
  const known = await oneTimeStore(db.sql).find(tenant, 'verify_email', hash);
  if (!known) throw InvalidToken();
  return { ...known, tenant, hash };
}

/** Takes the token of a message: whoever has it reads the mail of the address. @throws Invalid */
export async function verifyEmail(
  deps: Pick<Deps, 'db' | 'directory' | 'write'>,
  token: string,
): Promise<void> {
  const { tenant, hash, app_id: app, subject: userId, email } = await verificationOf(deps, token);
  await deps.write({ tenant, app, actor: userId }, async ({ sql, emit }) => {
    const taken = await oneTimeStore(sql).consume(tenant, 'verify_email', hash);
    if (!taken || !(await accountStore(sql).verifyEmail(tenant, app, userId, email))) throw InvalidToken();
    emit('user.email_verified', userId, { user_id: userId });
  });
}
