import type { Signin as SigninRequest } from '../../../generated/auth/types.ts';
import { Invalid } from '../../lib/errors.ts';
import { accountStore, type Identifier } from './accounts.store.ts';
import type { Deps } from './deps.ts';
import type { Visit } from './device-recognition.ts';
import type { KnownApp } from './directory.ts';
import { checkPassword } from './password-check.ts';
import type { Passwords } from './passwords.ts';
import type { Complete } from './signin.ts';
import { cleanEmail, cleanText } from './text-rules.ts';
import { throttleStore } from './throttles.store.ts';

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
  const { account, hash: provenHash, keys } = await checkPassword(deps, claim, password);
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
    if (keys.failed && !('mfa_required' in completed.result))
      await throttleStore(signinWrite.sql).clearNetwork(app.tenant, keys);
    return completed;
  });
}

/** With both, the email decides. */
function identified({ email, username }: Omit<Claimed, 'password'>): [Identifier, string] {
  if (email !== undefined) {
    const clean = cleanEmail(email);
    return [{ email: clean }, clean];
  }
  if (username === undefined) throw Invalid('email: required, or username');
  const clean = cleanText('username', username).toLowerCase();
  return [{ username: clean }, clean];
}

/** The same password at the cost that is asked for now. Where there is no room for the work, the next sign-in does it. */
const rehashed = async (passwords: Passwords, hash: string, password: string): Promise<string | undefined> =>
  passwords.isOutdated(hash) ? passwords.hash(password).catch(() => undefined) : undefined;
