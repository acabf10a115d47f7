import type { JobState } from '../job.ts';

/** What moves a job from one state to another. */
export type Transition = 'claim' | 'complete' | 'retry-later' | 'fail' | 'give-back' | 'cancel' | 'retry';

/** The state after each transition, by the state before it. A pair that is missing cannot happen. */
const after: Readonly<Record<Transition, Partial<Record<JobState, JobState>>>> = {
  claim: { pending: 'running', retrying: 'running' },
  complete: { running: 'completed' },
  'retry-later': { running: 'retrying' },
  fail: { running: 'failed' },
  'give-back': { running: 'pending' },
  cancel: { pending: 'cancelled', retrying: 'cancelled' },
  retry: { pending: 'pending', retrying: 'retrying', failed: 'pending', cancelled: 'pending' },
};

export const stateAfter = (state: JobState, transition: Transition): JobState | undefined =>
  after[transition][state];

export const isFinal = (state: JobState): boolean =>
  state === 'completed' || state === 'failed' || state === 'cancelled';
