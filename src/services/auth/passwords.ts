import { availableParallelism } from 'node:os';
import { hash as argonHash, verify as argonVerify } from '@node-rs/argon2';
import { RateLimited } from '../../lib/errors.ts';
import type { HashCost } from './settings.ts';

export interface Passwords {
  /** A PHC string of argon2id. Throws `RateLimited` when too many hashes wait already. */
  hash(password: string, signal?: AbortSignal): Promise<string>;
  /** Whether the password is the one of the hash. Without a hash the same work is done, and the answer is no. */
  verify(hash: string | null, password: string, signal?: AbortSignal): Promise<boolean>;
  /** Whether the hash was made with another cost than is asked for now. */
  isOutdated(hash: string): boolean;
}

/** The library's number of the variant. */
const argon2id = 2;

/** At work at once: each takes a core for as long as it lasts. */
const cores = availableParallelism();
const mostWaiting = 32 * cores;

/** argon2id beside the event loop, behind a queue of bounded length: under overload some are refused and none gets slow. */
export function createPasswords(cost: HashCost): Passwords {
  const options = { ...cost, algorithm: argon2id, outputLen: 32 };
  const queue = boundedQueue(cores, mostWaiting);
  let dummy: Promise<string> | undefined;
  return {
    hash: (password, signal) => queue(() => argonHash(password, options), signal),
    async verify(hash, password, signal) {
      dummy ??= argonHash('no account has this password', options);
      const known = hash ?? (await dummy);
      const same = await queue(() => argonVerify(known, password), signal);
      return same && hash !== null;
    },
    isOutdated: (hash) => !hash.includes(`$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`),
  };
}

/** Runs at most `width` at once and lets at most `length` wait. Who has gone away in the meantime is not served. */
function boundedQueue(width: number, length: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    if (running >= width) {
      if (waiting.length >= length) throw RateLimited('too many attempts', { retryAfter: 1 });
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running++;
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
