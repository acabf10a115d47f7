import type { MfaChallenge, User } from '../../../../generated/auth/types.ts';
import { accountStore } from '../directory/accounts.store.ts';
import { recognizeDevice } from '../sessions/device-recognition.ts';
import { admit, type Complete } from '../signin/signin.ts';

export interface HostedSignin {
  readonly result: MfaChallenge | { readonly user: User };
  /** Set for a new device. */
  readonly deviceToken: string | undefined;
}

/**
 * Completes a sign-in on a hosted page: checks, factors and devices are those of every sign-in, but the provider owns the session
 * and starts it when the browser returns to it.
 * @throws Unauthenticated, Forbidden
 */
export const completeHosted: Complete<HostedSignin> = async (deps, write, app, userId, signin) => {
  const challenge = await admit(deps, write, app, userId, signin);
  if (challenge) return { result: challenge, deviceToken: undefined };
  const { token } = await recognizeDevice(write, userId, signin.tag, signin.visit);
  const user = await accountStore(write.sql).signedIn(write.tenant, app.id, userId, signin.newHash);
  const { method } = signin;
  write.emit('auth.signin', userId, { user_id: userId, session_id: null, method });
  return { result: { user }, deviceToken: token };
};
