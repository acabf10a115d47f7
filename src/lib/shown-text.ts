import { Invalid } from './errors.ts';

/** Scripts in which a joiner or a non-joiner between two letters changes the written text. */
const joining = [
  'Arabic',
  'Syriac',
  'Mongolian',
  'Devanagari',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Oriya',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Tibetan',
  'Myanmar',
  'Khmer',
].map((script) => `\\p{Script_Extensions=${script}}`);

const picture = '(?:\\p{Extended_Pictographic}|\\p{Emoji_Modifier}|[0-9#*])';

/** Invisible characters where they are needed: to write some languages, and to compose emoji. */
const needed = new RegExp(
  [
    `(?<=[${joining.join('')}])[\\u200C\\u200D](?=[${joining.join('')}])`,
    `(?<=(?:\\p{Extended_Pictographic}|\\p{Emoji_Modifier})\\uFE0F?)\\u200D(?=\\p{Extended_Pictographic})`,
    `(?<=${picture})[\\uFE0E\\uFE0F]`,
    '(?<=\\p{Script=Han})[\\u{E0100}-\\u{E01EF}]',
    '(?<=\\p{Script=Mongolian})[\\u180B-\\u180D\\u180F]',
    // The flags of England, Scotland and Wales, and similar ones.
    '(?<=\\u{1F3F4})[\\u{E0030}-\\u{E0039}\\u{E0061}-\\u{E007A}]{2,6}\\u{E007F}',
  ].join('|'),
  'gu',
);

/** Characters that change the direction of a text, are invisible, or end a line. */
const hidden = /[\p{Default_Ignorable_Code_Point}\u2028\u2029\uFFF9-\uFFFB\p{Noncharacter_Code_Point}]/gu;

/** Text that consists only of blanks; `trim` does not know all of them. */
const blank = /^[\s\u2800]+$/u;

/**
 * Returns the problem of a text by which people recognise something, such as a name; undefined when there is none. A text that
 * looks like another one, or that reads differently from what is stored, makes people trust the wrong thing.
 */
export function problemOfShownText(text: string): string | undefined {
  if (/\p{Cc}/u.test(text)) return 'must not contain control characters';
  const [found] = text.replaceAll(needed, '').match(hidden) ?? [];
  if (found !== undefined) return `must not contain the invisible character ${codeOf(found)}`;
  return blank.test(text) ? 'must not be blank' : undefined;
}

/** @throws Invalid, naming the field, when the text has a problem that `problemOfShownText` finds. */
export function checkShownText(field: string, text: string | null | undefined): void {
  const problem = text == null ? undefined : problemOfShownText(text);
  if (problem !== undefined) throw Invalid(`${field}: ${problem}`);
}

/** Removes the characters that are refused elsewhere, for texts that nobody can correct. */
export const withoutHidden = (text: string): string =>
  problemOfShownText(text) === undefined
    ? text
    : text
        .replaceAll(/\p{Cc}/gu, ' ')
        .replaceAll(hidden, '')
        .trim();

const codeOf = (character: string) =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
