import type { PolicyUpdate } from '../../../generated/keys/types.ts';
import { canonicalAge, canonicalDuration } from './durations.ts';
import { sortedNames } from './scope-names.ts';
import { normalizeRange } from './validation/addresses.ts';
import { normalizeOriginRule } from './validation/origins.ts';

/**
 * The members of a policy as they are stored: one spelling for one meaning, so that equal terms are equal texts. Those
 * that are absent stay absent.
 * @throws Invalid naming the member that is malformed or out of its bounds.
 */
export function storedTerms<Given extends PolicyUpdate>(given: Given): Given {
  const { rate_window, allowed_ips, allowed_origins, max_key_age, allowed_scopes, grace_period } = given;
  return {
    ...given,
    ...(rate_window !== undefined && { rate_window: canonicalDuration(rate_window, 'rate_window') }),
    ...(allowed_ips && { allowed_ips: each(allowed_ips, 'allowed_ips', normalizeRange) }),
    ...(allowed_origins && {
      allowed_origins: each(allowed_origins, 'allowed_origins', normalizeOriginRule),
    }),
    ...(typeof max_key_age === 'string' && { max_key_age: canonicalAge(max_key_age) }),
    ...(allowed_scopes && { allowed_scopes: sortedNames(allowed_scopes) }),
    ...(grace_period !== undefined && { grace_period: canonicalDuration(grace_period, 'grace_period') }),
  };
}

/** Every text in its stored form, each once. */
function each(
  texts: readonly string[],
  field: string,
  stored: (text: string, field: string) => string,
): string[] {
  return [...new Set(texts.map((text, index) => stored(text, `${field}[${index}]`)))];
}
