import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { Invalid } from '../../../lib/errors.ts';
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

const mostMembers = 64;
const mostLevels = 5;
const mostBytes = 16 * 1024;

/** @throws Invalid if the metadata is too wide, too deep or too large to be stored */
export function checkMetadata(metadata: Readonly<Record<string, unknown>>): void {
  if (Object.keys(metadata).length > mostMembers) throw Invalid(`metadata: at most ${mostMembers} members`);
  if (levels(metadata) > mostLevels) throw Invalid(`metadata: at most ${mostLevels} levels`);
  if (Buffer.byteLength(JSON.stringify(metadata)) > mostBytes)
    throw Invalid(`metadata: at most ${mostBytes} bytes`);
}

/** The nesting depth of a value, counted only just beyond the limit. */
function levels(value: unknown, above = 0): number {
  if (typeof value !== 'object' || value === null || above > mostLevels) return above;
  return Object.values(value).reduce<number>(
    (deepest, member) => Math.max(deepest, levels(member, above + 1)),
    above + 1,
  );
}
