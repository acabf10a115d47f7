/** How long phone numbers are, which costs far less to ask than whether one is valid. */
import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  Metadata,
} from 'libphonenumber-js/max';

interface Plan {
  readonly callingCode: string;
  readonly lengths: readonly number[];
  /** What is dialled before a national number, such as `0`; empty where nothing is. */
  readonly prefix: string;
}

function planOf(country: CountryCode): Plan {
  const metadata = new Metadata();
  metadata.selectNumberingPlan(country);
  const plan = metadata.numberingPlan as unknown as {
    possibleLengths(): number[];
    nationalPrefix(): string | null;
  };
  return {
    callingCode: getCountryCallingCode(country),
    lengths: plan.possibleLengths(),
    prefix: plan.nationalPrefix() ?? '',
  };
}

const plans = new Map(getCountries().map((country) => [country, planOf(country)]));
const lengthsByCode = new Map<string, Set<number>>();
for (const { callingCode, lengths } of plans.values())
  lengthsByCode.set(callingCode, new Set([...(lengthsByCode.get(callingCode) ?? []), ...lengths]));

/** Whether digits that begin with a calling code can be a number; a zero behind the code may be one too many. */
export function isInternationalLength(digits: string): boolean {
  for (const length of [1, 2, 3]) {
    const lengths = lengthsByCode.get(digits.slice(0, length));
    if (lengths === undefined) continue;
    const rest = digits.length - length;
    return lengths.has(rest) || (digits.charAt(length) === '0' && lengths.has(rest - 1));
  }
  return false;
}

/** Whether digits can be a number as it is dialled inside the country. */
export function isNationalLength(digits: string, country: CountryCode): boolean {
  const { lengths, prefix } = plans.get(country)!;
  return (
    lengths.includes(digits.length) ||
    (prefix !== '' && digits.startsWith(prefix) && lengths.includes(digits.length - prefix.length))
  );
}

/** Whether a region has a numbering plan. */
export const isCountry = (region: string): region is CountryCode => isSupportedCountry(region);
