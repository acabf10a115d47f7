import { accountStore, type Account } from './accounts.store.ts';
import type { Deps } from './deps.ts';
import type { Visit } from './device-recognition.ts';
import type { KnownApp } from './directory.ts';
import { InvalidCredentials, Throttled } from './errors.ts';
import { secondsToWait, throttleKeys, type ThrottleKeys } from './throttle.ts';
import { throttleStore } from './throttles.store.ts';
import { readToken } from './tokens.ts';

/** Who claims to be which account. */
export interface Claim {
  readonly app: KnownApp;
  /** As it was typed, cleaned; or the user id where the account is known already. */
  readonly identifier: string;
  readonly account: Account | undefined;
  readonly visit: Visit;
  readonly signal: AbortSignal;
}

/** A claim that a password proved. */
export interface Proof {
  readonly account: Account;
  /** The hash that it was found right by. */
  readonly hash: string;
  /** The counters that a success clears. */
  readonly keys: HeardKeys;
}

/** The counters of an attempt that was heard. */
export interface HeardKeys extends ThrottleKeys {
  /** Whether failures of the account from this network were counted before: without any there is nothing to clear. */
  readonly failed: boolean;
}

/**
 * Whether the password is the account's. An unknown account, one without a password and a wrong password cost the same work and
 * are refused in the same words. A throttled attempt is refused without work and is not counted.
 * @throws RateLimited, Unauthenticated
 */
export async function checkPassword(deps: Deps, claim: Claim, password: string): Promise<Proof> {
  const keys = await heard(deps, claim);
  const { account, signal } = claim;
  const hash = account?.password_hash ?? null;
  const right = await deps.passwords.verify(hash, password, signal);
  if (right && account && hash !== null) return { account, hash, keys };
  await countFailure(deps, claim, keys);
  throw InvalidCredentials();
}

/** As much of a claim as its counters are of. */
export type Claimant = Pick<Claim, 'app' | 'identifier' | 'visit'> & {
  readonly account: Pick<Account, 'id'> | undefined;
};

/** The counters of an attempt that is heard. @throws RateLimited where it has to wait. */
export async function heard({ db }: Deps, { app, identifier, account, visit }: Claimant): Promise<HeardKeys> {
  const presented = visit.deviceToken === undefined ? undefined : readToken('dvt', visit.deviceToken);
  const device =
    presented && (await accountStore(db.sql).deviceOf(app.tenant, account?.id ?? '', presented.hash));
  const keys = throttleKeys({ app: app.id, identifier, ip: visit.ip ?? '', deviceId: device ?? null });
  const { network, everywhere } = await throttleStore(db.sql).counters(app.tenant, keys);
  const wait = secondsToWait(network, everywhere);
  if (wait > 0) throw Throttled(wait);
  return { ...keys, failed: network !== undefined };
}

/** The same statements whether there is such an account or not. */
export const countFailure = (
  { write, sealer }: Deps,
  { app, identifier, account }: Omit<Claimant, 'visit'>,
  keys: ThrottleKeys,
) =>
  write({ tenant: app.tenant, app: app.id, actor: account?.id ?? 'anonymous' }, async ({ sql, emit }) => {
    await throttleStore(sql).count(app.tenant, keys);
    emit('auth.signin_failed', account?.id ?? 'anonymous', {
      user_id: account?.id ?? null,
      identifier_hash: sealer.mac('auth/identifiers/v1', app.tenant, identifier).toString('hex'),
    });
  });
