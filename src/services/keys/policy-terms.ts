import type { PolicyUpdate } from '../../../generated/keys/types.ts';
import { canonicalRange } from '../../lib/addresses.ts';
import { Invalid } from '../../lib/errors.ts';
import { checkShownText } from '../../lib/shown-text.ts';
import { canonicalAge, canonicalDuration } from './durations.ts';
import { sortedNames } from './scope-names.ts';
import { normalizeOriginRule } from './validation/origins.ts';

/**
 * Returns the stored form of a policy's members: one spelling per meaning, so that equal terms are equal texts. Absent members
 * stay absent.
 * @throws Invalid naming the member that is malformed or out of bounds
 */
export function storedTerms<Given extends PolicyUpdate>(given: Given): Given {
  checkShownText('name', given.name);
  const { rate_window, allowed_ips, allowed_origins, max_key_age, allowed_scopes, grace_period } = given;
  return {
    ...given,
    ...(rate_window !== undefined && { rate_window: canonicalDuration(rate_window, 'rate_window') }),
    ...(allowed_ips && { allowed_ips: each(allowed_ips, 'allowed_ips', storedRange) }),
    ...(allowed_origins && {
      allowed_origins: each(allowed_origins, 'allowed_origins', normalizeOriginRule),
    }),
    ...(typeof max_key_age === 'string' && { max_key_age: canonicalAge(max_key_age) }),
    ...(allowed_scopes && { allowed_scopes: sortedNames(allowed_scopes) }),
    ...(grace_period !== undefined && { grace_period: canonicalDuration(grace_period, 'grace_period') }),
  };
}

function storedRange(text: string, field: string): string {
  const range = canonicalRange(text);
  if (range === undefined) throw Invalid(`${field}: '${text}' is not an IP address or CIDR range`);
  return range;
}

/** Returns every text in its stored form, each once. */
function each(
  texts: readonly string[],
  field: string,
  stored: (text: string, field: string) => string,
): string[] {
  return [...new Set(texts.map((text, index) => stored(text, `${field}[${index}]`)))];
}
