import { Conflict, DomainError, Invalid, TooLarge } from '../../lib/errors.ts';

/** The service's error envelope: a message that is safe to show. */
export const encodeError = (error: DomainError) => ({ error: error.message });

export const EventTypeNotFound = (name: string) =>
  new DomainError('notFound', `event type not found: ${name}`);

export const EventTypeDeprecated = (name: string) => Invalid(`event type is deprecated: ${name}`);

/** @param violation where in the data, and what is wrong there */
export const DataRefused = (type: string, violation: string) =>
  Invalid(`data does not match the schema of ${type}: ${violation}`);

export const DataTooLarge = (bytes: number) => TooLarge(`data: larger than ${bytes} bytes`);

export const UidTaken = (uid: string) => Conflict(`endpoint uid already exists: ${uid}`);

export const TooManyEndpoints = (most: number) => Conflict(`tenant has ${most} endpoints`);

/** A secret that was sealed with a master key that this server does not have. */
export const SecretUnreadable = (cause: unknown) =>
  Invalid('secret: cannot be read with the master keys of this server; rotate it', { cause });
