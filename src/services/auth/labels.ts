import { Invalid } from '../../lib/errors.ts';
import { cleanText } from './text-rules.ts';

/** The name of a thing as it is stored. @throws Invalid where nothing is left of it, or it holds what no text should. */
export function cleanLabel(field: string, value: string): string {
  const text = cleanText(field, value);
  if (text === '') throw Invalid(`${field}: must not be empty`);
  return text;
}
