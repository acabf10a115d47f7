import { Invalid } from '../../lib/errors.ts';

/** Text as it is stored: NFC, trimmed. @throws Invalid for control characters. */
export function cleanText(field: string, value: string): string {
  const text = value.normalize('NFC').trim();
  if (/\p{Cc}/u.test(text)) throw Invalid(`${field}: must not contain control characters`);
  return text;
}

/** The same for text that says something. */
export function cleanName(field: string, value: string): string {
  const text = cleanText(field, value);
  if (text === '') throw Invalid(`${field}: must not be empty`);
  return text;
}
