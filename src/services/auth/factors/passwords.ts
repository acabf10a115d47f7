import { availableParallelism } from 'node:os';
import { hash as argonHash, verify as argonVerify } from '@node-rs/argon2';
import { boundedQueue, type QueueLoad } from '../../../lib/bounded-queue.ts';
import { createPasswordStrength } from './password-strength.ts';
import type { HashCost } from '../settings.ts';

export interface Passwords {
  /** Returns a PHC string of argon2id. @throws RateLimited if too many hashes already wait */
  hash(password: string, signal?: AbortSignal): Promise<string>;
  /** Whether the password matches the hash. Without a hash, the same work is done and the result is false. */
  verify(hash: string | null, password: string, signal?: AbortSignal): Promise<boolean>;
  /** Why few guesses find the password for an attacker who knows the words `known`; undefined when it is strong. @throws RateLimited */
  weaknessOf(password: string, known: readonly string[], signal?: AbortSignal): Promise<string | undefined>;
  /** Called before work that leads to a hash. @throws RateLimited if too many already wait */
  checkRoom(): void;
  /** Whether the hash was made with a cost other than the configured one. */
  isOutdated(hash: string): boolean;
  /** The load of the queues in front of this work. */
  readonly load: () => { readonly hashes: QueueLoad; readonly strength: QueueLoad };
}

/** The library's number for the variant. */
const argon2id = 2;

/** Maximum number of concurrent hashes: each occupies a core while it runs. */
const cores = availableParallelism();
const mostWaiting = 32 * cores;

/** argon2id off the event loop, behind a queue of bounded length. */
export function createPasswords(cost: HashCost): Passwords {
  const options = { ...cost, algorithm: argon2id, outputLen: 32 };
  const queue = boundedQueue(cores, mostWaiting);
  const strength = createPasswordStrength();
  const parameters = `m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}`;
  // A hash of no password, which takes as long to verify as any other.
  const nobodys = `$argon2id$v=19$${parameters}$${unpadded(16)}$${unpadded(32)}`;
  return {
    hash: (password, signal) => queue.run(() => argonHash(password, options), signal),
    async verify(hash, password, signal) {
      const same = await queue.run(() => argonVerify(hash ?? nobodys, password), signal);
      return same && hash !== null;
    },
    weaknessOf: (...guessed) => strength.weaknessOf(...guessed),
    checkRoom: () => queue.checkRoom(),
    isOutdated: (hash) => !hash.startsWith(`$argon2id$v=19$${parameters}$`),
    load: () => ({ hashes: queue.load(), strength: strength.load() }),
  };
}

/** This many zero bytes, encoded as in PHC strings. */
const unpadded = (bytes: number) => Buffer.alloc(bytes).toString('base64').replaceAll('=', '');
