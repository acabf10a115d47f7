import type { Constraints } from '../../db/constraints.ts';
import { Conflict, type DomainError } from '../../lib/errors.ts';

/** The service's error envelope: a message that is safe to show. */
export const encodeError = (error: DomainError) => ({ error: error.message });

/** The error that the caller receives when a constraint is violated. */
export const constraints = (name: string): Constraints => ({
  cron_name_key: () => Conflict(`cron entry already exists: ${name}`),
});
