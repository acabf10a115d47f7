import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { Invalid } from '../../../lib/errors.ts';
import { metadataCheck } from '../../../lib/metadata.ts';
import { checkShownText } from '../../../lib/shown-text.ts';

/** Normalizes text for storage: NFC and trimmed. @throws Invalid naming the field if it contains forbidden characters or is too long */
export function cleanText(field: string, value: string, mostCharacters = Infinity): string {
  if (!value.isWellFormed()) throw Invalid(`${field}: must not contain a lone surrogate`);
  const text = value.normalize('NFC').trim();
  checkShownText(field, text);
  if (text.length > mostCharacters && [...text].length > mostCharacters)
    throw Invalid(`${field}: must have at most ${mostCharacters} characters`);
  return text;
}

/** The name of a person: null if nothing remains after trimming. */
export const cleanName = (field: string, value: string | null): string | null =>
  value === null ? null : cleanText(field, value, 128) || null;

/** An address as it is stored and looked up: in lower case. The validators have checked its form. */
export const cleanEmail = (value: string): string => cleanText('email', value, 254).toLowerCase();

const e164 = /^\+[1-9][0-9]{6,14}$/;

/** Returns a phone number in E.164 form. @throws Invalid if no region has such a number */
export function cleanPhone(value: string): string {
  const text = cleanText('phone', value);
  const phone = parsePhoneNumberFromString(text);
  if (!e164.test(text) || phone?.number !== text || !phone.isValid())
    throw Invalid('phone: must be a valid number like +4930901820');
  return text;
}

/** Checks the metadata of users and organizations. */
export const checkMetadata = metadataCheck({ members: 64, levels: 5, bytes: 16 * 1024 });
