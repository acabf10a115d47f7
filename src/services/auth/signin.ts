import type {
  ChallengeMethod,
  MfaChallenge,
  MfaMethod,
  SigninResult,
} from '../../../generated/auth/types.ts';
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
  /** Whoever signs in has shown that they read the mail of the account's address. */
  readonly addressProven?: boolean;
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

/** What ends a sign-in once who it is has been proven: with a session of the API, or of the browser that the hosted pages serve. */
export type Complete<Completed> = (
  deps: TextDeps,
  write: Write,
  app: KnownApp,
  userId: string,
  signin: Signin,
) => Promise<Completed>;

/** The end of every sign-in by the API: a session, or a challenge where a second factor is due. @throws Unauthenticated, Forbidden */
export const completeSignin: Complete<CompletedSignin> = async (deps, write, app, userId, signin) => {
  const challenge = await admit(deps, write, app, userId, signin);
  if (challenge) return { result: challenge, deviceToken: undefined };
  const { tag, visit, method, isNewUser = false, newHash } = signin;
  const [{ session, tokens, deviceToken }, user] = await Promise.all([
    startSession(write, app, tag, { id: userId }, visit),
    accountStore(write.sql).signedIn(write.tenant, app.id, userId, newHash),
  ]);
  write.emit('auth.signin', userId, { user_id: userId, session_id: session.id, method });
  return { result: { user, ...tokens, is_new_user: isNewUser }, deviceToken };
};

/**
 * What every sign-in has to pass, whatever proved it: banned? address verified? a second factor due? Then its challenge is
 * answered. The account is locked meanwhile, so a ban or a new password comes before or after, and never between.
 * @throws Unauthenticated, Forbidden
 */
export async function admit(
  deps: TextDeps,
  write: Write,
  app: KnownApp,
  userId: string,
  signin: Signin,
): Promise<MfaChallenge | undefined> {
  const { sql, tenant } = write;
  const { factorProven, isNewUser = false, addressProven = isNewUser, provenHash } = signin;
  // Sent in one go, and carried out in this order: the factors are those of the account once it is locked.
  const [account, factors] = await Promise.all([
    accountStore(sql).lock(tenant, app.id, userId),
    factorProven || isNewUser ? undefined : challengeStore(sql).factorsOf(tenant, userId),
  ]);
  if (!account || (provenHash !== undefined && account.password_hash !== provenHash))
    throw InvalidCredentials();
  if (account.banned) throw UserBanned();
  const unverified = account.email !== null && !account.email_verified;
  if (app.settings.require_verified_email && unverified && !addressProven) throw EmailNotVerified();
  const due = factors ? await dueFactors(write, app, userId, signin, factors) : [];
  return due.length > 0 ? challenge(deps, write, app, userId, signin, due) : undefined;
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
): Promise<MfaChallenge> {
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
  return { mfa_required: true, challenge_token: token, methods, expires_at };
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
