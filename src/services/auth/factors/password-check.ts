import type { Account } from '../directory/accounts.store.ts';
import { prove, type Claim, type Trial } from './trials.ts';
import type { Deps } from './deps.ts';

/** A claim that a password must prove. */
export interface PasswordClaim extends Claim {
  readonly account: Account | undefined;
  readonly signal: AbortSignal;
}

/** A claim that a password proved. */
export interface Proof {
  readonly account: Account;
  /** The hash that matched the password. */
  readonly hash: string;
  readonly trial: Trial;
}

/**
 * Checks the password of the account. An unknown account, one without a password and a wrong password cost the same work and get
 * the same error.
 * @throws RateLimited, Unauthenticated
 */
export const checkPassword = (deps: Deps, claim: PasswordClaim, password: string): Promise<Proof> =>
  prove(deps, claim, {
    async run(trial) {
      const { account, signal } = claim;
      const hash = account?.password_hash ?? null;
      const right = await deps.passwords.verify(hash, password, signal);
      return right && account && hash !== null ? { account, hash, trial } : undefined;
    },
  });
