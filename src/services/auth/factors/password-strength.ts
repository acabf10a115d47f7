import { Worker } from 'node:worker_threads';
import { Internal } from '../../../lib/errors.ts';
import { boundedQueue, type QueueLoad } from '../../../lib/bounded-queue.ts';

export interface Question {
  readonly id: number;
  readonly password: string;
  /** Words about the account that a guesser would try first. */
  readonly known: readonly string[];
}

export interface Answer {
  readonly id: number;
  readonly weakness: string | undefined;
}

interface Waiting {
  readonly resolve: (weakness: string | undefined) => void;
  readonly reject: (error: Error) => void;
}

/** This many questions are sent to the thread at once, so that it never idles between two. */
const atWork = 2;
const mostWaiting = 64;

export interface PasswordStrength {
  /** Why a password is weak; undefined when it is not. @throws RateLimited if too many already wait */
  readonly weaknessOf: (
    password: string,
    known: readonly string[],
    signal?: AbortSignal,
  ) => Promise<string | undefined>;
  readonly load: () => QueueLoad;
}

/**
 * Measures how weak passwords are, in a thread that starts with the first question: the worst accepted password takes longer than
 * other requests should wait. If the thread ends, the next question starts another.
 */
export function createPasswordStrength(): PasswordStrength {
  const queue = boundedQueue(atWork, mostWaiting);
  const asked = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let questions = 0;

  function begin(): Worker {
    const begun = new Worker(new URL('./guessable.worker.ts', import.meta.url));
    const over = (error: Error) => {
      if (worker !== begun) return;
      worker = undefined;
      for (const { reject } of asked.values()) reject(error);
      asked.clear();
    };
    begun.on('message', ({ id, weakness }: Answer) => {
      asked.get(id)?.resolve(weakness);
      asked.delete(id);
    });
    begun.on('error', (error) => over(Internal(error)));
    begun.on('exit', () => over(Internal(new Error('the thread that measures passwords ended'))));
    // The thread alone does not keep the process alive.
    begun.unref();
    return begun;
  }

  const ask = (password: string, known: readonly string[]) =>
    new Promise<string | undefined>((resolve, reject) => {
      worker ??= begin();
      const id = (questions += 1);
      asked.set(id, { resolve, reject });
      worker.postMessage({ id, password, known } satisfies Question);
    });

  return {
    weaknessOf: (password, known, signal) => queue.run(() => ask(password, known), signal),
    load: queue.load,
  };
}
