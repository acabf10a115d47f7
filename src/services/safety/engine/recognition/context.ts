import { isWordUnit, letter, classOf } from './characters.ts';

/** How many words before and after a form may raise or lower its score, and how far away they may be in characters. */
const wordsBefore = 5;
const wordsAfter = 3;
const mostBefore = 128;
const mostAfter = 96;

export const raise = 0.35;
export const lowering = 0.3;

/** Words that say that a number counts things: those of the design, and the same in other languages. */
const counters = new Set([
  ...['order', 'invoice', 'tracking', 'sku', 'isbn', 'uuid', 'commit', 'version', 'build'],
  ...[
    'bestellung',
    'bestellnummer',
    'rechnung',
    'rechnungsnummer',
    'commande',
    'facture',
    'pedido',
    'factura',
  ],
  ...['ordine', 'fattura'],
]);
/** Words that say that a secret is none. */
const examples = new Set(['test', 'example', 'sample', 'dummy', 'fake', 'placeholder', 'demo']);

/** The words around a span, in lower case: the nearest first. */
export interface Neighbours {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Words consist of letters and digits; a number is no word, since it says nothing about another. */
export function neighbours(text: string, start: number, end: number): Neighbours {
  return { before: wordsBackwards(text, start), after: wordsForwards(text, end) };
}

function wordsBackwards(text: string, start: number): string[] {
  const words: string[] = [];
  const first = Math.max(0, start - mostBefore);
  for (let at = start; at > first && words.length < wordsBefore;) {
    while (at > first && !isWordUnit(text.charCodeAt(at - 1))) at--;
    const end = at;
    let named = false;
    while (at > first && isWordUnit(text.charCodeAt(at - 1)))
      named = isLetter(text.charCodeAt(--at)) || named;
    if (named) words.push(text.slice(at, end).toLowerCase());
  }
  return words;
}

function wordsForwards(text: string, from: number): string[] {
  const words: string[] = [];
  const last = Math.min(text.length, from + mostAfter);
  for (let at = from; at < last && words.length < wordsAfter;) {
    while (at < last && !isWordUnit(text.charCodeAt(at))) at++;
    const start = at;
    let named = false;
    while (at < last && isWordUnit(text.charCodeAt(at))) named = isLetter(text.charCodeAt(at++)) || named;
    if (named) words.push(text.slice(start, at).toLowerCase());
  }
  return words;
}

const isLetter = (unit: number): boolean => unit > 127 || (classOf(unit) & letter) !== 0;

/** Context words as they are looked for: single words, phrases by their words, and parts of text without spaces. */
export interface ContextWords {
  readonly words: ReadonlySet<string>;
  readonly phrases: readonly (readonly string[])[];
  readonly parts: readonly string[];
}

const withoutSpaces = /[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

export function contextWordsOf(words: readonly string[]): ContextWords {
  return {
    words: new Set(words.filter((word) => !word.includes(' '))),
    phrases: words.filter((word) => word.includes(' ')).map((word) => word.split(' ')),
    parts: words.filter((word) => withoutSpaces.test(word)),
  };
}

export function isRaised({ before, after }: Neighbours, { words, phrases, parts }: ContextWords): boolean {
  return (
    before.some((word) => words.has(word) || isPart(word, parts)) ||
    after.some((word) => words.has(word) || isPart(word, parts)) ||
    phrases.some((phrase) => holds(before, [...phrase].reverse()) || holds(after, phrase))
  );
}

const isPart = (word: string, parts: readonly string[]): boolean =>
  parts.length > 0 && parts.some((part) => word.includes(part));

const holds = (words: readonly string[], phrase: readonly string[]): boolean =>
  words.some((_, at) => phrase.every((word, nth) => words[at + nth] === word));

export const isCounter = ({ before, after }: Neighbours): boolean =>
  before.some((word) => counters.has(word)) || after.some((word) => counters.has(word));

export const isExample = ({ before, after }: Neighbours): boolean =>
  before.some((word) => examples.has(word)) || after.some((word) => examples.has(word));
