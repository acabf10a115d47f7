import type { ChallengeAnswer, ChallengeMethod } from '../../../../generated/auth/types.ts';
import { Invalid } from '../../../lib/errors.ts';
import { accountStore } from '../directory/accounts.store.ts';
import { textChallenge } from './challenge-codes.ts';
import { challengeStore, type OpenChallenge } from './challenges.store.ts';
import { prove } from '../factors/trials.ts';
import type { Deps } from '../factors/deps.ts';
import type { Visit } from '../directory/visit.ts';
import type { KnownApp } from '../directory/directory.ts';
import { enrollmentStore } from '../factors/enrollments.store.ts';
import { InvalidCredentials } from '../errors.ts';
import { isCarriedCode } from '../factors/factor-proof.ts';
import { challengeMethods, type Complete } from './signin.ts';
import { codeMac } from '../factors/text-codes.ts';
import { readToken } from '../directory/tokens.ts';
import type { Write } from '../directory/writes.ts';

/** A presented challenge with its app and user. */
interface Presented {
  readonly app: KnownApp;
  readonly tag: string;
  readonly hash: Buffer;
  readonly userId: string;
  readonly challenge: OpenChallenge;
}

/** Returns undefined if the token is invalid or its challenge is over. */
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

/** A sign-in that waits for its second factor, as its page shows it. */
export interface WaitingSignin {
  readonly app: KnownApp;
  readonly userId: string;
  readonly methods: readonly ChallengeMethod[];
  /** Whether a code was texted that is still valid. */
  readonly texted: boolean;
}

/** Returns the sign-in that the token stands for; undefined if it is over. */
export async function waitingSignin(deps: Deps, token: string): Promise<WaitingSignin | undefined> {
  const presented = await findChallenge(deps, token);
  if (!presented) return undefined;
  const { app, userId, challenge } = presented;
  const { verified, recovery } = await challengeStore(deps.db.sql).factorsOf(app.tenant, userId);
  const methods = challengeMethods(challenge.method, verified, recovery);
  return { app, userId, methods, texted: challenge.code_mac !== null };
}

/**
 * Runs a write about an open challenge. The account is locked first, as in every write about factors, so answers are processed
 * one after the other. With `attempt`, the statement that reads the challenge also counts the answer.
 */
const writeOpen = <T>(
  { write }: Deps,
  { app, hash, userId }: Presented,
  read: 'attempt' | 'open',
  run: (write: Write, challenge: OpenChallenge) => Promise<T>,
): Promise<T> =>
  write({ tenant: app.tenant, app: app.id, actor: userId }, async (open) => {
    await accountStore(open.sql).lock(app.tenant, app.id, userId);
    const challenge = await challengeStore(open.sql)[read](app.tenant, hash);
    if (!challenge) throw InvalidCredentials();
    return run(open, challenge);
  });

/**
 * Completes a sign-in by its second factor. Wrong codes also count against the account; otherwise an attacker who knows the
 * password could start new challenges and continue to guess.
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
  return prove(deps, claim, {
    forgets: true,
    run: () =>
      writeOpen(deps, presented, 'attempt', async (write, challenge) => {
        // The failure is returned, not thrown, so that the count of the wrong answer is committed.
        if (!(await isAnswer(deps, write, presented, challenge, method, code))) return undefined;
        await challengeStore(write.sql).delete(write.tenant, hash);
        return complete(deps, write, app, userId, { tag, visit, method, factorProven: true });
      }),
  });
}

/** Whether the code is valid for the challenge. A valid code is used up. */
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

/** Texts a code that answers a challenge. Returns when it expires. @throws Invalid, Unauthenticated, RateLimited */
export async function sendChallengeCode(deps: Deps, token: string, ip: string | null): Promise<string> {
  const presented = await presentedChallenge(deps, token);
  const { app, hash, userId } = presented;
  return writeOpen(deps, presented, 'open', async (write, challenge) => {
    const { verified } = await challengeStore(write.sql).factorsOf(app.tenant, userId);
    if (!challengeMethods(challenge.method, verified, false).includes('sms'))
      throw Invalid('challenge_token: its challenge is not answered by sms');
    return textChallenge(deps, write, app, { userId, hash, ip });
  });
}
