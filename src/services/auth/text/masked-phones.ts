import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** Shows the country and the last four digits of a number; the number of digits between is hidden. */
export function maskedPhone(phone: string): string {
  const country = parsePhoneNumberFromString(phone)?.countryCallingCode ?? '';
  return `+${country}*****${phone.slice(-4)}`;
}
