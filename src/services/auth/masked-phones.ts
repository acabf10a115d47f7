import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** A number of which the country and the last four digits are shown; how many lie between is not said. */
export function maskedPhone(phone: string): string {
  const country = parsePhoneNumberFromString(phone)?.countryCallingCode ?? '';
  return `+${country}*****${phone.slice(-4)}`;
}
