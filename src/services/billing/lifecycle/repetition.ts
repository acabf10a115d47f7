import { setTimeout as delay } from 'node:timers/promises';
import { violation } from '../../../db/constraints.ts';
import { isContention } from '../../../db/errors.ts';
import { DomainError } from '../../../lib/errors.ts';

/** The most tries of a change that others get in the way of. */
const mostTries = 8;

/**
 * Repeats a change of segments while an event enters the segment that the change replaces, or while it and another change wait for each
 * other: the next try sees what the other one did.
 */
export async function repeatedly<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries >= mostTries || !isPassing(error)) throw error;
      await delay(tries * 5 * (1 + Math.random()));
    }
  }
}

const entered = { usage_total_segment: () => new DomainError('conflict', 'an event entered the segment') };

const isPassing = (error: unknown) => isContention(error) || violation(error, entered) !== undefined;
