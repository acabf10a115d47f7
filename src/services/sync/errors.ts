import { Conflict, DomainError, Forbidden, Gone, Invalid, Unavailable } from '../../lib/errors.ts';

/** The service's error envelope: a message that is safe to show. */
export const encodeError = (error: DomainError) => ({ error: error.message });

export const ResyncRequired = () => Gone('resync required');

export const NodeOfAnother = () => Forbidden('node id belongs to another subject');

export const ChangeRejected = (reason: string) => Forbidden(`change rejected: ${reason}`);

/** @param what what there are too many of, and of what */
export const LimitReached = (most: number, what: string) => Conflict(`limit reached: ${most} ${what}`);

/** @param change the number of the change in its push */
export const ClockDrift = (change: number, aheadMs: number, mostMs: number) =>
  Invalid(`clock drift: Changes[${change}].hlc is ${aheadMs} ms ahead, at most ${mostMs}`);

export const PresenceDisabled = () => new DomainError('notFound', 'presence is disabled');

export const Busy = () => Unavailable('busy');

export const TooManyStreams = () => Unavailable('too many streams', { retryAfter: 5 });
