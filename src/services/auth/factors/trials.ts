import { attempts, type Reserved } from '../../../db/attempts.ts';
import { accountStore, type Account } from '../directory/accounts.store.ts';
import type { Deps } from './deps.ts';
import type { Visit } from '../directory/visit.ts';
import type { KnownApp } from '../directory/directory.ts';
import { InvalidCredentials, Throttled } from '../errors.ts';
import { boundedQueue, type Queue } from '../../../lib/bounded-queue.ts';
import { networkWaits, throttled, type ThrottledAttempt } from '../limits/throttle.ts';
import { readToken } from '../directory/tokens.ts';

/** A claim to an account, and its origin. */
export interface Claim {
  readonly app: KnownApp;
  /** The identifier as typed, normalized; or the user id if the account is already known. */
  readonly identifier: string;
  readonly account: Pick<Account, 'id'> | undefined;
  readonly visit: Visit;
}

/** Failed attempts to prove an account. */
export const throttles = attempts('auth');

/** An attempt to prove a claim, counted already. */
export interface Trial {
  readonly network: Buffer;
  /** Whether earlier failures of the account from this network were counted: without any there is nothing to clear. */
  readonly afterFailures: boolean;
}

export interface TrialOptions<T> {
  /** Whether a success clears the failures from this network at once. */
  readonly forgets?: boolean;
  /** Returns undefined if the claim was not proven. */
  readonly run: (trial: Trial) => Promise<T | undefined>;
}

/**
 * Proves the claim and returns the result of `run`. The attempt is counted before it is judged, and given back unless it fails;
 * one that must wait is refused without work and is not counted.
 * @throws RateLimited if the attempt must wait, Unauthenticated if the claim is not proven
 */
export async function prove<T>(deps: Deps, claim: Claim, options: TrialOptions<T>): Promise<T> {
  const result = await attempt(deps, claim, options);
  if (result !== undefined) return result;
  await noteFailure(deps, claim);
  throw InvalidCredentials();
}

/** Like `prove`, but returns undefined on a failure and emits no event. @throws RateLimited */
export async function attempt<T>(
  deps: Deps,
  claim: Claim,
  { forgets = false, run }: TrialOptions<T>,
): Promise<T | undefined> {
  const place = await throttledClaim(deps, claim);
  const { network } = place;
  return inTurn(network, async () => {
    const attempted = await throttles.attempt(deps.db.sql, place, {
      forgets: forgets ? [network] : [],
      run: (reserved: Reserved) => run({ network, afterFailures: reserved.followed(network) }),
    });
    if ('wait' in attempted) throw Throttled(attempted.wait);
    return attempted.result;
  });
}

async function throttledClaim(
  { db }: Deps,
  { app, identifier, account, visit }: Claim,
): Promise<ThrottledAttempt> {
  const presented = visit.deviceToken === undefined ? undefined : readToken('dvt', visit.deviceToken);
  const device =
    presented && (await accountStore(db.sql).deviceOf(app.tenant, account?.id ?? '', presented.hash));
  const deviceId = device ?? null;
  return throttled({ tenant: app.tenant, app: app.id, identifier, ip: visit.ip ?? '', deviceId });
}

/** Attempts in this process that wait for others of the same account and network. */
const turns = new Map<string, { readonly queue: Queue; count: number }>();
const mostInTurn = 200;

/**
 * Runs as many attempts at once as may fail without a wait, because pending attempts count as failures: a program that signs in
 * ten times at once with the right password is not refused. A wrong attempt is refused when its turn comes.
 */
async function inTurn<T>(network: Buffer, run: () => Promise<T>): Promise<T> {
  const key = network.toString('base64');
  const turn = turns.get(key) ?? {
    queue: boundedQueue(networkWaits.free, mostInTurn, () => Throttled(1)),
    count: 0,
  };
  turns.set(key, turn);
  turn.count += 1;
  try {
    return await turn.queue.run(run);
  } finally {
    turn.count -= 1;
    if (turn.count === 0) turns.delete(key);
  }
}

/** The statements are the same whether or not the account exists. */
const noteFailure = ({ write, sealer }: Deps, { app, identifier, account }: Claim) =>
  write({ tenant: app.tenant, app: app.id, actor: account?.id ?? 'anonymous' }, async ({ emit }) => {
    emit('auth.signin_failed', account?.id ?? 'anonymous', {
      user_id: account?.id ?? null,
      identifier_hash: sealer.mac('auth/identifiers/v1', app.tenant, identifier).toString('hex'),
    });
  });
