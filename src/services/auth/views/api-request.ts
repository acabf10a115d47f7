import { validators } from '../../../../generated/auth/validators.js';
import type { Validate } from '../../../http/operation.ts';
import { problem } from '../../../http/problems.ts';
import { Invalid } from '../../../lib/errors.ts';

/**
 * Validates what was typed into a page as the API request that it stands for: with the same limits and the same messages.
 * @throws Invalid naming the field
 */
export function apiRequest<Body>(operation: keyof typeof validators, typed: object): Body {
  const body = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== undefined));
  const validate = validators[operation]?.body as Validate | undefined;
  if (validate && !validate(body)) throw Invalid(problem(validate.errors ?? [], 'body'));
  return body as Body;
}
