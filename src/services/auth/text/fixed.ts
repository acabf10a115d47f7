import { Invalid } from '../../../lib/errors.ts';

/** Refuses another value for a member that is fixed at creation. */
export function checkFixed(field: string, value: string | undefined, stored: string): void {
  if (value !== undefined && value !== stored) throw Invalid(`${field}: cannot be changed`);
}
