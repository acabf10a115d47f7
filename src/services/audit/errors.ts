import type { DomainError } from '../../lib/errors.ts';

/** The service's error envelope: a message that is safe to show. */
export const encodeError = (error: DomainError) => ({ error: `audit: ${error.message}` });
