import type { ChallengeAnswer, ChallengeMethod } from '../../../generated/auth/types.ts';
import { Invalid } from '../../lib/errors.ts';
import { accountStore } from './accounts.store.ts';
import { textChallenge } from './challenge-codes.ts';
import { challengeStore, type OpenChallenge } from './challenges.store.ts';
import type { Deps } from './deps.ts';
import type { Visit } from './device-recognition.ts';
import type { KnownApp } from './directory.ts';
import { enrollmentStore } from './enrollments.store.ts';
import { InvalidCredentials } from './errors.ts';
import { isCarriedCode } from './factor-proof.ts';
import { countFailure, heard } from './password-check.ts';
import { challengeMethods, type Complete } from './signin.ts';
import { codeMac } from './text-codes.ts';
import { throttleStore } from './throttles.store.ts';
import { readToken } from './tokens.ts';
import type { Write } from './writes.ts';

/** A challenge that was presented, and where it belongs. */
interface Presented {
  readonly app: KnownApp;
  readonly tag: string;
  readonly hash: Buffer;
  readonly userId: string;
  readonly challenge: OpenChallenge;
}

/** Undefined where the token is none, or its challenge is over. */
async function findChallenge({ db, directory }: Deps, token: string): Promise<Presented | undefined> {
  const presented = readToken('chall', token);
  const tenant = presented && (await directory.tenantOf(presented.tag));
  if (!presented || tenant === undefined) return undefined;
  const { tag, hash } = presented;
  const challenge = await challengeStore(db.sql).open(tenant, hash);
  const app = challenge && (await directory.app(challenge.app_id));
  return app && { app, tag, hash, userId: challenge.user_id, challenge };
}

/** @throws Unauthenticated */
async function presentedChallenge(deps: Deps, token: string): Promise<Presented> {
  const presented = await findChallenge(deps, token);
  if (!presented) throw InvalidCredentials();
  return presented;
}

/** A sign-in that waits, as its page shows it. */
export interface WaitingSignin {
  readonly app: KnownApp;
  readonly userId: string;
  readonly methods: readonly ChallengeMethod[];
  /** Whether a code was texted that is still good. */
  readonly texted: boolean;
}

/** The sign-in that the token stands for; undefined where it is over. */
export async function waitingSignin(deps: Deps, token: string): Promise<WaitingSignin | undefined> {
  const presented = await findChallenge(deps, token);
  if (!presented) return undefined;
  const { app, userId, challenge } = presented;
  const { verified, recovery } = await challengeStore(deps.db.sql).factorsOf(app.tenant, userId);
  const methods = challengeMethods(challenge.method, verified, recovery);
  return { app, userId, methods, texted: challenge.code_mac !== null };
}

/**
 * Runs a write about a challenge that is still open. The account is locked first, as every write about factors does, so answers
 * come one after the other.
 */
const writeOpen = <T>(
  { write }: Deps,
  { app, hash, userId }: Presented,
  run: (write: Write, challenge: OpenChallenge) => Promise<T>,
): Promise<T> =>
  write({ tenant: app.tenant, app: app.id, actor: userId }, async (open) => {
    await accountStore(open.sql).lock(app.tenant, app.id, userId);
    const challenge = await challengeStore(open.sql).open(app.tenant, hash);
    if (!challenge) throw InvalidCredentials();
    return run(open, challenge);
  });

/**
 * Ends a sign-in by its second factor. Wrong codes count against the account too, else who knows the password could begin new
 * challenges and go on guessing.
 * @throws Unauthenticated, Forbidden, RateLimited
 */
export async function answerChallenge<Completed>(
  deps: Deps,
  { challenge_token, method, code }: ChallengeAnswer,
  visit: Visit,
  complete: Complete<Completed>,
): Promise<Completed> {
  const presented = await presentedChallenge(deps, challenge_token);
  const { app, tag, hash, userId } = presented;
  const claim = { app, identifier: userId, account: { id: userId }, visit };
  const keys = await heard(deps, claim);
  const completed = await writeOpen(deps, presented, async (write, challenge) => {
    const { sql, tenant } = write;
    if (!(await isAnswer(deps, write, presented, challenge, method, code))) {
      await challengeStore(sql).countWrongAnswer(tenant, hash);
      return undefined;
    }
    await challengeStore(sql).delete(tenant, hash);
    await throttleStore(sql).clearNetwork(tenant, keys);
    return complete(deps, write, app, userId, { tag, visit, method, factorProven: true });
  });
  if (completed) return completed;
  await countFailure(deps, claim, keys);
  throw InvalidCredentials();
}

/** Whether the code is good for the challenge. A good one is used up. */
async function isAnswer(
  deps: Deps,
  write: Write,
  { hash, userId }: Presented,
  challenge: OpenChallenge,
  method: ChallengeMethod,
  code: string,
): Promise<boolean> {
  const { sql, tenant } = write;
  const { verified, recovery } = await challengeStore(sql).factorsOf(tenant, userId);
  if (!challengeMethods(challenge.method, verified, recovery).includes(method)) return false;
  if (method !== 'sms') return isCarriedCode(deps, write, userId, method, code);
  const mac = codeMac(deps.sealer, tenant, hash.toString('hex'), code);
  if (challenge.code_mac === null || !challenge.code_mac.equals(mac)) return false;
  await enrollmentStore(sql).noteUse(tenant, userId, method);
  return true;
}

/** Texts a code that answers a challenge. Answers until when it is good. @throws Invalid, Unauthenticated, RateLimited */
export async function sendChallengeCode(deps: Deps, token: string): Promise<string> {
  const presented = await presentedChallenge(deps, token);
  const { app, hash, userId } = presented;
  return writeOpen(deps, presented, async (write, challenge) => {
    const { verified } = await challengeStore(write.sql).factorsOf(app.tenant, userId);
    if (!challengeMethods(challenge.method, verified, false).includes('sms'))
      throw Invalid('challenge_token: its challenge is not answered by sms');
    return textChallenge(deps, write, app, userId, hash);
  });
}
