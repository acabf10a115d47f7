import { accountStore, type Account } from './accounts.store.ts';
import type { Deps } from './deps.ts';
import type { Visit } from './device-recognition.ts';
import type { KnownApp } from './directory.ts';
import { InvalidCredentials, InvalidToken } from './errors.ts';
import { oneTimeStore, type OneTime } from './one-time.store.ts';
import { presentedOneTime } from './one-time.ts';
import { checkPassword } from './password-check.ts';
import { checkNewPassword } from './password-rules.ts';
import { endSessionsOfUser } from './revocations.ts';
import { accountKey } from './throttle.ts';
import { throttleStore } from './throttles.store.ts';
import { userEndings } from './user-endings.store.ts';
import type { Write } from './writes.ts';

/** Whose password the token of a message replaces. */
export interface PasswordReset {
  readonly app: KnownApp;
  readonly account: Account;
  readonly hash: Buffer;
}

/** @throws Invalid where the token is over. */
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

/** Replaces a forgotten password. All sessions and grants of the user end. @throws Invalid, RateLimited */
export async function resetPassword(
  deps: Deps,
  token: string,
  password: string,
  signal: AbortSignal,
): Promise<void> {
  const { passwords, write } = deps;
  const { app, account, hash: tokenHash } = await passwordResetOf(deps, token);
  const { tenant } = app;
  checkNewPassword(password, app.settings.password_min_length, account, 'new_password');
  const hash = await passwords.hash(password, signal);
  await write({ tenant, app: app.id, actor: account.id }, async (resetWrite) => {
    const locked = await accountStore(resetWrite.sql).lock(tenant, app.id, account.id);
    const taken = await oneTimeStore(resetWrite.sql).consume(tenant, 'reset_password', tokenHash);
    if (!locked || !isFor(taken, locked)) throw InvalidToken();
    await replacePassword(resetWrite, locked, hash);
    await endSessionsOfUser(resetWrite, locked.id, 'password_reset');
    resetWrite.emit('auth.password_reset', locked.id, { user_id: locked.id });
  });
}

/** A token that went to an address the account no longer has is good no more. */
const isFor = (taken: OneTime | undefined, { email }: Account) =>
  taken !== undefined && taken.email === email;

export interface PasswordChangeRequest {
  readonly app: KnownApp;
  readonly userId: string;
  /** The session that goes on. */
  readonly sessionId: string | undefined;
  readonly visit: Visit;
  readonly signal: AbortSignal;
}

/** Replaces the password of somebody who knows it. All sessions but theirs, and all grants, end. */
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
  checkNewPassword(password, app.settings.password_min_length, account, 'new_password');
  const hash = await passwords.hash(password, signal);
  await write({ tenant: app.tenant, app: app.id, actor: userId }, async (changeWrite) => {
    const locked = await accountStore(changeWrite.sql).lock(app.tenant, app.id, userId);
    if (locked?.password_hash !== provenHash) throw InvalidCredentials();
    await replacePassword(changeWrite, locked, hash);
    await endSessionsOfUser(changeWrite, userId, 'password_changed', sessionId);
    changeWrite.emit('auth.password_changed', userId, { user_id: userId });
  });
}

/** Stores the password and ends all that the old one, or a reset of it, began: grants, open challenges and tokens, failures. */
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
  await throttleStore(sql).clearAccounts(
    tenant,
    identifiers.map((identifier) => accountKey(app, identifier)),
  );
  changed('user', id);
}
