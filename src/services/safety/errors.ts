import type { ErrorCode } from '../../../generated/safety/types.ts';
import type { Constraints } from '../../db/constraints.ts';
import { Conflict, type DomainError, type ErrorKind, NotFound, Unavailable } from '../../lib/errors.ts';

const codes: Partial<Record<ErrorKind, ErrorCode>> = {
  invalid: 'BAD_REQUEST',
  unauthenticated: 'UNAUTHORIZED',
  forbidden: 'FORBIDDEN',
  notFound: 'NOT_FOUND',
  conflict: 'CONFLICT',
  tooLarge: 'TOO_LARGE',
  unsupportedMediaType: 'UNSUPPORTED_MEDIA_TYPE',
  rateLimited: 'RATE_LIMITED',
  unavailable: 'OVERLOADED',
};

const byStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'BAD_REQUEST',
  404: 'NOT_FOUND',
  503: 'OVERLOADED',
};

/** The service's error envelope. The status decides where the kind has no word of its own. */
export const encodeError = ({ kind, message }: DomainError, status: number) => ({
  error: message,
  code: codes[kind] ?? byStatus[status] ?? 'INTERNAL_ERROR',
});

export const NameTaken = (entity: string, name: string) => Conflict(`${entity} "${name}" already exists`);

export const InUse = (entity: string, name: string) => Conflict(`in use by ${entity} "${name}"`);

export const BuiltIn = (entity: string) => Conflict(`${entity} is built in and cannot be changed`);

export const LimitReached = (most: number, what: string) =>
  Conflict(`app has reached its limit of ${most} ${what}`);

export const QueueFull = () => Unavailable('scan queue is full', { retryAfter: 1 });

/** Violations that only a concurrent request can cause. */
export const constraints: Constraints = {
  assignment_policy: () => NotFound('policy'),
};
