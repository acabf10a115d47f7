import { Invalid } from '../../../lib/errors.ts';
import { cleanText } from './text-rules.ts';

/** Returns a name in its stored form. @throws Invalid if it is empty, or contains characters that no text may contain */
export function cleanLabel(field: string, value: string): string {
  const text = cleanText(field, value);
  if (text === '') throw Invalid(`${field}: must not be empty`);
  return text;
}
