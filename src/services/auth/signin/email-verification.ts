import { accountStore } from '../directory/accounts.store.ts';
import type { Deps } from '../factors/deps.ts';
import { InvalidToken } from '../errors.ts';
import { oneTimeStore, type OneTime } from '../directory/one-time.store.ts';
import { presentedOneTime } from '../directory/one-time.ts';

/** Returns the account and the address that a message's token verifies. @throws Invalid */
export async function verificationOf(
  { db, directory }: Pick<Deps, 'db' | 'directory'>,
  token: string,
): Promise<OneTime & { readonly tenant: string; readonly hash: Buffer }> {
  const { tenant, hash } = await presentedOneTime(directory, 'verify_email', token);
  const known = await oneTimeStore(db.sql).find(tenant, 'verify_email', hash);
  if (!known) throw InvalidToken();
  return { ...known, tenant, hash };
}

/** Consumes the token of a message: it proves access to the address's mail. @throws Invalid */
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
