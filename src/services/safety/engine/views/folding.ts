import type { Pace } from '../pace.ts';
import { cyrillicOrGreek, kindOf, latin, wordKinds } from './letters.ts';
import { likenessOf, smallCapitals, spelledAlphabets } from './look-alikes.ts';
import { ViewBuilder, type View } from './view.ts';

/** A folded view, and what was found while folding: signs of text that people do not see as it is. */
export interface Folded extends View {
  readonly signs: Signs;
}

export interface Signs {
  /** Characters of the text that spell hidden ASCII. */
  tags: number;
  /** Controls that show text in another order. */
  overrides: number;
  /** Other invisible characters with a letter on both sides. */
  invisibles: number;
  /** Words that mix Latin letters with look-alikes. */
  mixedWords: number;
  /** Combining marks on letters of scripts that have few. */
  marks: number;
}

export const space = 0x20;

/** Invisible characters, which are left out. */
const invisible =
  /^[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]$/;
/** Marks of Latin, Greek and Cyrillic, and those of any script; an iota below a letter is one in capitals, and stays. */
const mark =
  /^[\u0300-\u0344\u0346-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]$/;
const marks = new RegExp(mark.source.slice(1, -1), 'g');
const whiteSpace = /^\s$|^[\u0085\u2800]$/;
const override = /^[\u202a-\u202e\u2066-\u2069]$/;

/** What a code unit becomes: one of these, or a code unit. 0 is not known yet. */
const dropped = 1;
const several = 2;
const droppedMark = 3;
const droppedOverride = 4;

/** The results by code unit, filled as characters occur. */
const single = new Uint16Array(65_536);
const sequences = new Map<number, readonly number[]>();

/** What ASCII becomes, of which most texts consist; 0 for what is left out. */
const ascii = Uint8Array.from({ length: 128 }, (_, code) => {
  const result = learn(code);
  return result > droppedOverride ? result : 0;
});

/** The kinds of the letters and digits of ASCII. */
const asciiKinds = ascii.map((code) => kindOf(code) & wordKinds);

const noSigns = (): Signs => ({ tags: 0, overrides: 0, invisibles: 0, mixedWords: 0, marks: 0 });

/** Folds a text, one part after the other, into a view. */
export class Folder {
  readonly signs = noSigns();
  readonly #text: string;
  readonly #builder: ViewBuilder;
  /** Where the current word begins in the view, and the kinds of its letters. */
  #word = 0;
  #kinds = 0;
  /** Where the next part begins, if the last one ended within a pair of surrogates. */
  #next = 0;
  /** Whether the previous character was left out after a letter. */
  #wasInvisible = false;

  constructor(text: string) {
    this.#text = text;
    this.#builder = new ViewBuilder(text.length);
  }

  fold(from: number, to: number): void {
    const text = this.#text;
    for (let at = Math.max(from, this.#next); at < to; at++) {
      const code = text.charCodeAt(at);
      if (code < 128 && ascii[code] !== 0) {
        const kind = asciiKinds[code]!;
        if (kind !== 0 && !this.#wasInvisible) {
          this.#kinds |= kind;
          this.#builder.add(ascii[code]!, at);
        } else this.#add(ascii[code]!, at);
        continue;
      }
      if (code >= 0xd800 && code <= 0xdbff && at + 1 < text.length) {
        const low = text.charCodeAt(at + 1);
        if (low >= 0xdc00 && low <= 0xdfff) {
          this.#foldPair(text.codePointAt(at)!, at);
          this.#next = ++at + 1;
          continue;
        }
      }
      const result = single[code] || learn(code);
      if (result > droppedOverride) this.#add(result, at);
      else if (result === several) for (const part of sequences.get(code)!) this.#add(part, at);
      else this.#drop(result);
    }
  }

  build(): Folded {
    this.#endWord();
    return { ...this.#builder.build(this.#text.length), signs: this.signs };
  }

  #foldPair(point: number, at: number): void {
    if (point >= 0xe0000 && point <= 0xe0fff) {
      if (point >= 0xe0020 && point < 0xe007f) this.signs.tags++;
      return;
    }
    for (const part of partsOfPair(point)) this.#add(part, at);
  }

  #add(code: number, at: number): void {
    const builder = this.#builder;
    if (code === space) {
      this.#endWord();
      // A run of white space is one space, which begins where the run begins.
      if (builder.length > 0 && builder.codes[builder.length - 1] === space) return;
      builder.add(code, at);
      this.#word = builder.length;
      return;
    }
    const kind = kindOf(code);
    if ((kind & wordKinds) === 0) {
      this.#endWord();
      builder.add(code, at);
      this.#word = builder.length;
      return;
    }
    if (this.#wasInvisible) {
      this.signs.invisibles++;
      this.#wasInvisible = false;
    }
    this.#kinds |= kind;
    builder.add(code, at);
  }

  #drop(result: number): void {
    if (result === droppedMark) this.signs.marks++;
    else if (result === droppedOverride) this.signs.overrides++;
    // Some scripts need them inside words.
    else if ((this.#kinds & (latin | cyrillicOrGreek)) !== 0) this.#wasInvisible = true;
  }

  /** In a word that mixes scripts, look-alikes become Latin. */
  #endWord(): void {
    const { codes, length } = this.#builder;
    if ((this.#kinds & latin) !== 0 && (this.#kinds & cyrillicOrGreek) !== 0) {
      this.signs.mixedWords++;
      for (let at = this.#word; at < length; at++) codes[at] = likenessOf(codes[at]!);
    }
    this.#kinds = 0;
    this.#wasInvisible = false;
  }
}

function learn(code: number): number {
  const character = String.fromCharCode(code);
  let result: number;
  if (override.test(character)) result = droppedOverride;
  else if (invisible.test(character)) result = dropped;
  else if (mark.test(character)) result = droppedMark;
  else if (whiteSpace.test(character)) result = space;
  else {
    const parts = partsOf(code);
    if (parts.length === 1) result = parts[0]!;
    else {
      result = parts.length === 0 ? dropped : several;
      sequences.set(code, parts);
    }
  }
  return (single[code] = result);
}

/** The code units of a character that is neither dropped nor white space. Hangul and kana become the parts of their signs. */
function partsOf(point: number): readonly number[] {
  // A lone surrogate has no other form.
  if (point >= 0xd800 && point <= 0xdfff) return [point];
  const alphabet = spelledAlphabets.find((first) => point >= first && point < first + 26);
  if (alphabet !== undefined) return [0x61 + point - alphabet];
  const character = String.fromCodePoint(point);
  const plain = smallCapitals.get(character) ?? caseFolded(character.normalize('NFKD')).normalize('NFKD');
  const folded = plain.replace(marks, '').replace(/\s+/g, ' ');
  return Array.from({ length: folded.length }, (_, index) => folded.charCodeAt(index)).filter(
    (code) => code > droppedOverride,
  );
}

/** Unicode's full case folding: `ß` is `ss`, as in capitals, and a final sigma is a sigma. A dotless i is a letter of its own. */
function caseFolded(character: string): string {
  return character === '\u0131' ? character : character.toUpperCase().toLowerCase();
}

const pairs = new Map<number, readonly number[]>();
const mostPairs = 4_096;

/** The code units of a character outside the basic plane; the first that occur are kept. */
function partsOfPair(point: number): readonly number[] {
  const known = pairs.get(point);
  if (known !== undefined) return known;
  const parts = partsOf(point);
  if (pairs.size < mostPairs) pairs.set(point, parts);
  return parts;
}

const charactersPerStep = 4_096;
const plainPerStep = 65_536;

/** Other characters than these may be left out or become several. */
const unusual = /[^\t\n\r -~]/;
/** White space that becomes less. */
const wideSpace = /\s\s/;

/** Folds a whole text in slices. */
export async function folded(text: string, pace: Pace): Promise<Folded> {
  if (!unusual.test(text) && !wideSpace.test(text)) return await foldedPlain(text, pace);
  const folder = new Folder(text);
  await pace.through(0, text.length, charactersPerStep, (from, to) => folder.fold(from, to));
  return folder.build();
}

/** Folds a text of which every character stays where it is, as most English texts. */
async function foldedPlain(text: string, pace: Pace): Promise<Folded> {
  const codes = new Uint16Array(text.length);
  await pace.through(0, text.length, plainPerStep, (from, to) => {
    for (let at = from; at < to; at++) codes[at] = ascii[text.charCodeAt(at)]!;
  });
  return { codes, offsets: undefined, signs: noSigns() };
}

/** Folds a whole text; for texts that are short, such as keywords. */
export function fold(text: string): Folded {
  const folder = new Folder(text);
  folder.fold(0, text.length);
  return folder.build();
}
