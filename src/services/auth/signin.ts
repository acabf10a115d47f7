import type { ChallengeMethod, MfaMethod, SigninResult } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import { accountStore } from './accounts.store.ts';
import { tryTextChallenge } from './challenge-codes.ts';
import { challengeStore, type Factors } from './challenges.store.ts';
import type { Visit } from './device-recognition.ts';
import type { KnownApp } from './directory.ts';
import { EmailNotVerified, InvalidCredentials, UserBanned } from './errors.ts';
import { startSession } from './session-start.ts';
import type { TextDeps } from './text-codes.ts';
import { issueToken, readToken } from './tokens.ts';
import type { Write } from './writes.ts';

/** How a sign-in was proven, as events tell it: at first, or by the factor that answered its challenge. */
export type SigninMethod = 'password' | 'phone' | ChallengeMethod;

export interface Signin {
  /** The tag of the tenant's tokens. */
  readonly tag: string;
  readonly visit: Visit;
  readonly method: SigninMethod;
  /** The second factor was proven too: this is the answer to a challenge. */
  readonly factorProven?: boolean;
  /** The account was made in this transaction: its first session does not wait for a verified address. */
  readonly isNewUser?: boolean;
  /** The hash that the password was found right by; a password that was replaced meanwhile is not good any more. */
  readonly provenHash?: string;
  /** The same password at the cost that is asked for now. */
  readonly newHash?: string | undefined;
}

export interface CompletedSignin {
  readonly result: SigninResult;
  /** For a device that is new. */
  readonly deviceToken: string | undefined;
}

/**
 * The end of every sign-in, whatever proved it: banned? address verified? a second factor due? Then a challenge is answered, else
 * a session begins. The account is locked meanwhile, so a ban or a new password comes before or after, and never between.
 * @throws Unauthenticated, Forbidden
 */
export async function completeSignin(
  deps: TextDeps,
  write: Write,
  app: KnownApp,
  userId: string,
  signin: Signin,
): Promise<CompletedSignin> {
  const { sql, tenant, emit } = write;
  const { tag, visit, method, factorProven, isNewUser = false, provenHash, newHash } = signin;
  const store = accountStore(sql);
  // Sent in one go, and carried out in this order: the factors are those of the account once it is locked.
  const [account, factors] = await Promise.all([
    store.lock(tenant, app.id, userId),
    factorProven || isNewUser ? undefined : challengeStore(sql).factorsOf(tenant, userId),
  ]);
  if (!account || (provenHash !== undefined && account.password_hash !== provenHash))
    throw InvalidCredentials();
  if (account.banned) throw UserBanned();
  const unverified = account.email !== null && !account.email_verified;
  if (app.settings.require_verified_email && unverified && !isNewUser) throw EmailNotVerified();

  const due = factors ? await dueFactors(write, app, userId, signin, factors) : [];
  if (due.length > 0) return challenge(deps, write, app, userId, signin, due);

  const [{ session, tokens, deviceToken }, user] = await Promise.all([
    startSession(write, app, tag, { id: userId }, visit),
    store.signedIn(tenant, app.id, userId, newHash),
  ]);
  emit('auth.signin', userId, { user_id: userId, session_id: session.id, method });
  return { result: { user, ...tokens, is_new_user: isNewUser }, deviceToken };
}

/** What can answer the challenge of a sign-in; nothing where none is due. A trusted device counts only where the app says so. */
async function dueFactors(
  { sql, tenant }: Write,
  app: KnownApp,
  userId: string,
  { method, visit }: Signin,
  { verified, recovery }: Factors,
): Promise<ChallengeMethod[]> {
  const due = challengeMethods(method, verified, recovery);
  if (due.length === 0 || !app.settings.mfa_trusted_devices) return due;
  const presented = visit.deviceToken === undefined ? undefined : readToken('dvt', visit.deviceToken);
  const trusted = presented && (await accountStore(sql).trustedDeviceOf(tenant, userId, presented.hash));
  return trusted === undefined ? due : [];
}

/** A code by SMS is no second factor for whoever signs in by a code by SMS. */
export function challengeMethods(
  method: SigninMethod,
  verified: readonly MfaMethod[],
  recovery: boolean,
): ChallengeMethod[] {
  const factors = verified.filter((factor) => !(method === 'phone' && factor === 'sms'));
  return factors.length > 0 && recovery ? [...factors, 'recovery'] : factors;
}

async function challenge(
  deps: TextDeps,
  write: Write,
  app: KnownApp,
  userId: string,
  { tag, method }: Signin,
  methods: ChallengeMethod[],
): Promise<CompletedSignin> {
  const { sql, tenant, emit } = write;
  const { token, hash } = issueToken('chall', tag);
  const expires_at = await challengeStore(sql).insert({
    tenant_id: tenant,
    hash,
    app_id: app.id,
    user_id: userId,
    method,
    device_id: null,
  });
  if (methods.includes('sms') && !methods.includes('totp'))
    await tryTextChallenge(deps, write, app, userId, hash);
  emit('auth.mfa_challenged', userId, { user_id: userId, methods });
  return {
    result: { mfa_required: true, challenge_token: token, methods, expires_at },
    deviceToken: undefined,
  };
}

/** From where a request comes. */
export const visitOf = ({ ip, userAgent }: Context, deviceToken: string | undefined): Visit => ({
  ip,
  userAgent,
  deviceToken,
});

/** The body of the answer; what else it says goes into its headers. */
export function answerSignin({ reply }: Context, { result, deviceToken }: CompletedSignin): SigninResult {
  reply.header('Cache-Control', 'no-store');
  if (deviceToken !== undefined) reply.header('X-Device-Token', deviceToken);
  return result;
}
