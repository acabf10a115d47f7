import type { ChallengeMethod, Reauthentication } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { Invalid, Unauthenticated } from '../../../lib/errors.ts';
import { accountStore } from '../directory/accounts.store.ts';
import { authorOf, type CallingUser } from '../directory/app-context.ts';
import { prove, throttles } from './trials.ts';
import type { Deps } from './deps.ts';
import { InvalidCredentials } from '../errors.ts';
import { isCarriedCode } from './factor-proof.ts';
import { checkPassword } from './password-check.ts';
import { sessionStore } from '../sessions/sessions.store.ts';
import type { Write } from '../directory/writes.ts';

/** Proves again who the user of the session is, by password or by a carried second factor. @throws Invalid, Unauthenticated, RateLimited */
export async function reauthenticate(
  deps: Deps,
  context: Context,
  caller: CallingUser,
  sessionId: string,
  { password, method, code }: Reauthentication,
): Promise<void> {
  const byPassword = password !== undefined;
  const byFactor = method !== undefined && code !== undefined;
  if (byPassword ? (method ?? code) !== undefined : !byFactor)
    throw Invalid('password: required, unless method and code are given');
  const clear = byPassword
    ? await provePassword(deps, context, caller, password)
    : await proveFactor(deps, context, caller, method!, code!);
  await deps.write(authorOf(context, caller.app), async (tx) => {
    await clear(tx);
    if (!(await sessionStore(tx.sql).prove(tx.tenant, sessionId))) throw Unauthenticated();
    tx.changed('session', sessionId, 'forget');
  });
}

/** Clears the failures that a success resets. */
type Clear = (tx: Write) => Promise<void>;

async function provePassword(
  deps: Deps,
  { ip, userAgent, signal }: Context,
  { app, userId }: CallingUser,
  password: string,
): Promise<Clear> {
  const account = await accountStore(deps.db.sql).findById(app.tenant, app.id, userId);
  const visit = { ip, userAgent, deviceToken: undefined };
  const proof = await checkPassword(deps, { app, identifier: userId, account, visit, signal }, password);
  return async ({ sql, tenant }) => {
    const locked = await accountStore(sql).lock(tenant, app.id, userId);
    if (locked?.password_hash !== proof.hash) throw InvalidCredentials();
    await throttles.forget(sql, tenant, proof.trial.network);
  };
}

async function proveFactor(
  deps: Deps,
  context: Context,
  { app, userId }: CallingUser,
  method: ChallengeMethod,
  code: string,
): Promise<Clear> {
  const visit = { ip: context.ip, userAgent: context.userAgent, deviceToken: undefined };
  const claim = { app, identifier: userId, account: { id: userId }, visit };
  const trial = await prove(deps, claim, {
    run: (trial) =>
      deps.write(authorOf(context, app), async (tx) => {
        await accountStore(tx.sql).lock(app.tenant, app.id, userId);
        return (await isCarriedCode(deps, tx, userId, method, code)) ? trial : undefined;
      }),
  });
  return ({ sql, tenant }) => throttles.forget(sql, tenant, trial.network);
}
