import type { Signin as SigninRequest } from '../../../../generated/auth/types.ts';
import { Invalid } from '../../../lib/errors.ts';
import { accountStore, type Identifier } from '../directory/accounts.store.ts';
import type { Deps } from '../factors/deps.ts';
import type { Visit } from '../directory/visit.ts';
import type { KnownApp } from '../directory/directory.ts';
import { throttles } from '../factors/trials.ts';
import { checkPassword } from '../factors/password-check.ts';
import type { Passwords } from '../factors/passwords.ts';
import type { Complete } from './signin.ts';
import { cleanEmail, cleanText } from '../text/text-rules.ts';

export type Claimed = Pick<SigninRequest, 'email' | 'username' | 'password'>;

/** Signs in by password. @throws Invalid, Unauthenticated, Forbidden, RateLimited */
export async function signInByPassword<Completed extends { readonly result: object }>(
  deps: Deps,
  app: KnownApp,
  { password, ...names }: Claimed,
  visit: Visit,
  signal: AbortSignal,
  complete: Complete<Completed>,
): Promise<Completed> {
  const { db, directory, passwords, write } = deps;
  passwords.checkRoom();
  const [identifier, typed] = identified(names);
  const claimed = await accountStore(db.sql).find(app.tenant, app.id, identifier);
  const claim = { app, identifier: typed, account: claimed, visit, signal };
  const { account, hash: provenHash, trial } = await checkPassword(deps, claim, password);
  const newHash = await rehashed(passwords, provenHash, password);
  const tag = await directory.tagOf(app.tenant);
  return write({ tenant: app.tenant, app: app.id, actor: account.id }, async (signinWrite) => {
    const method = 'password';
    const completed = await complete(deps, signinWrite, app, account.id, {
      tag,
      visit,
      method,
      provenHash,
      newHash,
    });
    if (trial.afterFailures && !('mfa_required' in completed.result))
      await throttles.forget(signinWrite.sql, app.tenant, trial.network);
    return completed;
  });
}

/** Identifies the account; with both names, the email decides. */
function identified({ email, username }: Omit<Claimed, 'password'>): [Identifier, string] {
  if (email !== undefined) {
    const clean = cleanEmail(email);
    return [{ email: clean }, clean];
  }
  if (username === undefined) throw Invalid('email: required, unless username is given');
  const clean = cleanText('username', username).toLowerCase();
  return [{ username: clean }, clean];
}

/** Returns a hash of the same password at the configured cost. If the hash queue is full, the next sign-in does it. */
const rehashed = async (passwords: Passwords, hash: string, password: string): Promise<string | undefined> =>
  passwords.isOutdated(hash) ? passwords.hash(password).catch(() => undefined) : undefined;
