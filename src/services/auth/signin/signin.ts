import type {
  ChallengeMethod,
  MfaChallenge,
  MfaMethod,
  SigninResult,
} from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { accountStore } from '../directory/accounts.store.ts';
import { tryTextChallenge } from './challenge-codes.ts';
import { challengeStore, type Factors } from './challenges.store.ts';
import type { Visit } from '../directory/visit.ts';
import type { KnownApp } from '../directory/directory.ts';
import { EmailNotVerified, InvalidCredentials, UserBanned } from '../errors.ts';
import { startSession } from '../sessions/session-start.ts';
import type { TextDeps } from '../factors/text-codes.ts';
import { issueToken, readToken } from '../directory/tokens.ts';
import type { Write } from '../directory/writes.ts';

/** The method that proved a sign-in, as in events: the first factor, or the factor that answered the challenge. */
export type SigninMethod = 'password' | 'phone' | ChallengeMethod;

export interface Signin {
  /** The tag of the tenant's tokens. */
  readonly tag: string;
  readonly visit: Visit;
  readonly method: SigninMethod;
  /** The second factor was proven, too: the sign-in answers a challenge. */
  readonly factorProven?: boolean;
  /** The account was created in this transaction: its first session does not wait for a verified address. */
  readonly isNewUser?: boolean;
  /** The user has proven access to the mail of the account's address. */
  readonly addressProven?: boolean;
  /** The hash that matched the password; it no longer counts if the password was replaced meanwhile. */
  readonly provenHash?: string;
  /** A hash of the same password at the configured cost. */
  readonly newHash?: string | undefined;
}

export interface CompletedSignin {
  readonly result: SigninResult;
  /** Set for a new device. */
  readonly deviceToken: string | undefined;
}

/** Completes a sign-in whose user is proven: with a session of the API, or of the browser on the hosted pages. */
export type Complete<Completed> = (
  deps: TextDeps,
  write: Write,
  app: KnownApp,
  userId: string,
  signin: Signin,
) => Promise<Completed>;

/** Completes every sign-in by the API: with a session, or with a challenge if a second factor is due. @throws Unauthenticated, Forbidden */
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
 * Checks of every sign-in, however it was proven: is the user banned, is the address verified, is a second factor due? If so, a
 * challenge is returned. The account is locked, so a ban or a new password takes effect before or after, never in between.
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
  write.comesFrom(signin.visit);
  const { factorProven, isNewUser = false, addressProven = isNewUser, provenHash } = signin;
  // Both statements are sent at once and run in this order: the factors are read after the account is locked.
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

/** Returns the methods that can answer the challenge; empty when none is due. A trusted device counts only if the app allows it. */
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

/** A code by SMS is not a second factor for a sign-in that began with a code by SMS. */
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
  { tag, method, visit }: Signin,
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
    await tryTextChallenge(deps, write, app, { userId, hash, ip: visit.ip });
  emit('auth.mfa_challenged', userId, { user_id: userId, methods });
  return { mfa_required: true, challenge_token: token, methods, expires_at };
}

/** The origin of a request. */
export const visitOf = ({ ip, userAgent }: Context, deviceToken: string | undefined): Visit => ({
  ip,
  userAgent,
  deviceToken,
});

/** Returns the response body; the device token goes into a header. */
export function answerSignin({ reply }: Context, { result, deviceToken }: CompletedSignin): SigninResult {
  reply.header('Cache-Control', 'no-store');
  if (deviceToken !== undefined) reply.header('X-Device-Token', deviceToken);
  return result;
}
