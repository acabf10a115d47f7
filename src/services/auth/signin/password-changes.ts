import { accountStore, type Account } from '../directory/accounts.store.ts';
import { throttles } from '../factors/trials.ts';
import type { Deps } from '../factors/deps.ts';
import type { Visit } from '../directory/visit.ts';
import type { KnownApp } from '../directory/directory.ts';
import { InvalidCredentials, InvalidToken } from '../errors.ts';
import { oneTimeStore, type OneTime } from '../directory/one-time.store.ts';
import { presentedOneTime } from '../directory/one-time.ts';
import { checkPassword } from '../factors/password-check.ts';
import { checkNewPassword } from '../factors/password-rules.ts';
import { endSessionsOfUser } from '../sessions/revocations.ts';
import { accountKey } from '../limits/throttle.ts';
import { userEndings } from '../sessions/user-endings.store.ts';
import type { Write } from '../directory/writes.ts';

/** The account whose password a message's token resets. */
export interface PasswordReset {
  readonly app: KnownApp;
  readonly account: Account;
  readonly hash: Buffer;
}

/** @throws Invalid if the token is no longer valid */
export async function passwordResetOf(
  { db, directory }: Pick<Deps, 'db' | 'directory'>,
  token: string,
): Promise<PasswordReset> {
  const { tenant, hash } = await presentedOneTime(directory, 'reset_password', token);
  const known = await oneTimeStore(db.sql).find(tenant, 'reset_password', hash);
  const app = known && (await directory.app(known.app_id));
  const account = known && (await accountStore(db.sql).findById(tenant, known.app_id, known.subject));
  if (!app || !account) throw InvalidToken();
  return { app, account, hash };
}

/** Replaces a forgotten password. Ends all sessions and grants of the user, and the trust in all devices. @throws Invalid, RateLimited */
export async function resetPassword(
  deps: Deps,
  token: string,
  password: string,
  visit: Visit,
  signal: AbortSignal,
): Promise<void> {
  const { passwords, write } = deps;
  const { app, account, hash: tokenHash } = await passwordResetOf(deps, token);
  const { tenant } = app;
  await checkNewPassword(passwords, password, { app, owner: account, field: 'new_password', signal });
  const hash = await passwords.hash(password, signal);
  await write({ tenant, app: app.id, actor: account.id, visit }, async (resetWrite) => {
    const locked = await accountStore(resetWrite.sql).lock(tenant, app.id, account.id);
    const taken = await oneTimeStore(resetWrite.sql).consume(tenant, 'reset_password', tokenHash);
    if (!locked || !isFor(taken, locked)) throw InvalidToken();
    await replacePassword(resetWrite, locked, hash);
    await endSessionsOfUser(resetWrite, locked.id, 'password_reset');
    resetWrite.secured({ userId: locked.id, change: 'password_reset' });
    resetWrite.emit('auth.password_reset', locked.id, { user_id: locked.id });
  });
}

/** A token sent to a former address of the account is not valid. */
const isFor = (taken: OneTime | undefined, { email }: Account) =>
  taken !== undefined && taken.email === email;

export interface PasswordChangeRequest {
  readonly app: KnownApp;
  readonly userId: string;
  /** The session that continues. */
  readonly sessionId: string | undefined;
  readonly visit: Visit;
  readonly signal: AbortSignal;
}

/** Replaces the password of a user who knows it. All grants and other sessions end, and all devices lose their trust. */
export async function changePassword(
  deps: Deps,
  { app, userId, sessionId, visit, signal }: PasswordChangeRequest,
  current: string,
  password: string,
): Promise<void> {
  const { db, passwords, write } = deps;
  const known = await accountStore(db.sql).findById(app.tenant, app.id, userId);
  const claim = { app, identifier: userId, account: known, visit, signal };
  const { account, hash: provenHash } = await checkPassword(deps, claim, current);
  await checkNewPassword(passwords, password, { app, owner: account, field: 'new_password', signal });
  const hash = await passwords.hash(password, signal);
  await write({ tenant: app.tenant, app: app.id, actor: userId, visit }, async (changeWrite) => {
    const locked = await accountStore(changeWrite.sql).lock(app.tenant, app.id, userId);
    if (locked?.password_hash !== provenHash) throw InvalidCredentials();
    await replacePassword(changeWrite, locked, hash);
    await endSessionsOfUser(changeWrite, userId, 'password_changed', sessionId);
    changeWrite.secured({ userId, change: 'password_changed' });
    changeWrite.emit('auth.password_changed', userId, { user_id: userId });
  });
}

/** Stores the password and ends everything that the old one, or a reset of it, started: grants, open challenges and tokens, failures. */
async function replacePassword(
  { sql, tenant, app, changed }: Write,
  { id, email, username }: Account,
  hash: string,
): Promise<void> {
  const store = accountStore(sql);
  await store.replacePassword(tenant, app, id, hash);
  await userEndings(sql).endGrants(tenant, id);
  await userEndings(sql).endChallenges(tenant, id);
  await oneTimeStore(sql).void(tenant, app, 'reset_password', id);
  const identifiers = [id, email, username?.toLowerCase()].filter((known) => known != null);
  await throttles.forgetAccounts(
    sql,
    tenant,
    identifiers.map((identifier) => accountKey(app, identifier)),
  );
  changed('user', id);
}
