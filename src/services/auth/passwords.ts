import { availableParallelism } from 'node:os';
import { hash as argonHash, verify as argonVerify } from '@node-rs/argon2';
import { boundedQueue } from './hash-queue.ts';
import type { HashCost } from './settings.ts';

export interface Passwords {
  /** A PHC string of argon2id. Throws `RateLimited` when too many hashes wait already. */
  hash(password: string, signal?: AbortSignal): Promise<string>;
  /** Whether the password is the one of the hash. Without a hash the same work is done, and the answer is no. */
  verify(hash: string | null, password: string, signal?: AbortSignal): Promise<boolean>;
  /** For before the work that leads to a hash. @throws RateLimited where too many wait already */
  checkRoom(): void;
  /** Whether the hash was made with another cost than is asked for now. */
  isOutdated(hash: string): boolean;
}

/** The library's number of the variant. */
const argon2id = 2;

/** At work at once: each takes a core for as long as it lasts. */
const cores = availableParallelism();
const mostWaiting = 32 * cores;

/** argon2id beside the event loop, behind a queue of bounded length. */
export function createPasswords(cost: HashCost): Passwords {
  const options = { ...cost, algorithm: argon2id, outputLen: 32 };
  const queue = boundedQueue(cores, mostWaiting);
  const parameters = `m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}`;
  // The hash of no password, which takes as long to verify as any other.
  const nobodys = `$argon2id$v=19$${parameters}$${unpadded(16)}$${unpadded(32)}`;
  return {
    hash: (password, signal) => queue.run(() => argonHash(password, options), signal),
    async verify(hash, password, signal) {
      const same = await queue.run(() => argonVerify(hash ?? nobodys, password), signal);
      return same && hash !== null;
    },
    checkRoom: () => queue.checkRoom(),
    isOutdated: (hash) => !hash.startsWith(`$argon2id$v=19$${parameters}$`),
  };
}

/** So many zero bytes as PHC strings write them. */
const unpadded = (bytes: number) => Buffer.alloc(bytes).toString('base64').replaceAll('=', '');
