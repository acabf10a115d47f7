import { withoutHidden } from '../../../../../lib/shown-text.ts';

/**
 * A text as it can be printed on one line: control characters and runs of blanks are single blanks, lone surrogates are visible
 * replacements, and what is invisible or changes the direction of its surroundings is gone.
 */
export const printable = (text: string): string =>
  withoutHidden(text.toWellFormed().normalize('NFC')).replaceAll(/\s+/gu, ' ').trim();
