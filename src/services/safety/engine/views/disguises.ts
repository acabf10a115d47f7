import type { Pace } from '../pace.ts';
import { isWordCode, kindOf, letters, wordKinds } from './letters.ts';
import { space } from './folding.ts';
import { reading, spanIn, type Reading } from './readings.ts';
import { ViewBuilder, type View } from './view.ts';

/** Characters that stand for letters in words that also have letters. */
const leet = new Uint16Array(65_536);
for (const [index, sign] of [...'0134578@$'].entries())
  leet[sign.charCodeAt(0)] = 'oieastbas'.charCodeAt(index);
/** A run of a letter from this length on is one letter. */
const longestRun = 2;
const wordsPerStep = 16;
/** Longer words are read in parts. */
const longestWord = 4_096;
const unitsPerStep = 8_192;
/** The fewest letters that are spelled out. */
const fewestSpelled = 5;
/** Longer spellings are read in parts. */
const longestSpelled = 2_047;

const isLetter = (code: number) => (kindOf(code) & letters) !== 0;

export interface Disguises {
  /** Whether words mix letters with signs, or repeat letters. */
  readonly isLeet: boolean;
  /** Whether single letters follow one another. */
  readonly isSpelled: boolean;
}

/** Looks for traces of disguises. Most texts have none, and need not be rewritten. */
export async function disguisesOf({ codes }: View, pace: Pace): Promise<Disguises> {
  const traces = new Traces(codes);
  await pace.through(0, codes.length, unitsPerStep, (from, to) => traces.read(from, to));
  return traces;
}

class Traces implements Disguises {
  isLeet = false;
  isSpelled = false;
  readonly #codes: Uint16Array;
  /** What the word so far has, and how often its last letter was repeated. */
  #hasLetters = false;
  #hasSigns = false;
  #run = 0;

  constructor(codes: Uint16Array) {
    this.#codes = codes;
  }

  /** Reads on. What changes with each character is in variables, which are faster than members. */
  read(from: number, to: number): void {
    const codes = this.#codes;
    let [hasLetters, hasSigns, run] = [this.#hasLetters, this.#hasSigns, this.#run];
    let isLeet = this.isLeet;
    let before = from === 0 ? space : codes[from - 1]!;
    let next = kindOf(codes[from] ?? space);
    for (let at = from; at < to; at++) {
      const code = codes[at]!;
      const kind = next;
      next = at + 1 < codes.length ? kindOf(codes[at + 1]!) : 0;
      if (code === space) hasLetters = hasSigns = false;
      else {
        if ((kind & letters) !== 0) {
          hasLetters = true;
          run = before === code ? run + 1 : 1;
          isLeet ||= run > longestRun;
        } else hasSigns ||= leet[code] !== 0;
        isLeet ||= hasLetters && hasSigns;
        if ((next & wordKinds) === 0 && !this.isSpelled) this.isSpelled = beginsSpelling(codes, at);
      }
      before = code;
    }
    [this.#hasLetters, this.#hasSigns, this.#run] = [hasLetters, hasSigns, run];
    this.isLeet = isLeet;
  }
}

/** Whether a position begins the fewest single letters that are spelled out. */
function beginsSpelling(codes: Uint16Array, from: number): boolean {
  const last = from + 2 * (fewestSpelled - 1);
  if (last >= codes.length || !isSpelled(codes[from]!)) return false;
  for (let at = from + 2; at <= last; at += 2)
    if (isWordCode(codes[at - 1]!) || !isSpelled(codes[at]!)) return false;
  return true;
}

/** The text with letters in place of the digits and signs that stand for them; undefined when it has none. */
export async function unleeted({ codes, offsets }: View, pace: Pace): Promise<Reading | undefined> {
  const builder = new ViewBuilder(codes.length);
  let isChanged = false;
  for (let at = 0, words = 0; at < codes.length; words++) {
    if (words % wordsPerStep === 0 && pace.isDue) await pace.rest();
    const last = Math.min(codes.length, at + longestWord);
    let end = at;
    let hasLetters = false;
    let hasSigns = false;
    for (; end < last && codes[end] !== space; end++) {
      hasLetters ||= isLetter(codes[end]!);
      hasSigns ||= leet[codes[end]!] !== 0;
    }
    const isMixed = hasLetters && hasSigns;
    isChanged ||= isMixed;
    for (let run = 0; at < end; at++) {
      const code = (isMixed && leet[codes[at]!]) || codes[at]!;
      run = builder.length > 0 && builder.codes[builder.length - 1] === code ? run + 1 : 1;
      if (run > longestRun && isLetter(code)) {
        // The second letter of the run goes too.
        if (run === longestRun + 1) builder.drop();
        isChanged = true;
      } else builder.add(code, offsets?.[at] ?? at);
    }
    if (codes[at] === space) {
      builder.add(space, offsets?.[at] ?? at);
      at++;
    }
  }
  return isChanged ? reading(builder.build(offsets?.[codes.length] ?? codes.length), 'leet') : undefined;
}

/** Words that are spelled out: `i g n o r e`, `i-g-n-o-r-e`. */
export async function spelledOut(view: View, pace: Pace): Promise<Reading | undefined> {
  const { codes } = view;
  const builder = new ViewBuilder(64);
  for (let at = 0, words = 0; at < codes.length; words++) {
    if (words % wordsPerStep === 0 && pace.isDue) await pace.rest();
    const end = endOfSpelling(codes, at);
    if ((end - at + 1) / 2 >= fewestSpelled) {
      addSpelled(builder, view, at, end);
      if (end - at < longestSpelled) builder.add(space, view.offsets?.[end - 1] ?? end - 1);
    }
    at = Math.max(end, at + 1);
    while (at < codes.length && isWordCode(codes[at - 1]!) && isWordCode(codes[at]!)) at++;
  }
  if (builder.length === 0) return undefined;
  return reading(builder.build(view.offsets?.[codes.length] ?? codes.length), 'spaced', false);
}

/** The end of the single letters, each followed by one separator, that begin at a position. */
function endOfSpelling(codes: Uint16Array, from: number): number {
  let at = from;
  while (
    at < codes.length &&
    isSpelled(codes[at]!) &&
    (at + 1 === codes.length || !isWordCode(codes[at + 1]!))
  ) {
    if (at + 2 >= codes.length || !isSpelled(codes[at + 2]!) || at + 1 - from >= longestSpelled)
      return at + 1;
    at += 2;
  }
  return Math.max(from, at - 1);
}

const isSpelled = (code: number) => isWordCode(code) || leet[code] !== 0;

/** Adds the letters. A space is a gap between words where letters are divided otherwise, or by single spaces. */
function addSpelled(builder: ViewBuilder, { codes, offsets }: View, from: number, to: number): void {
  let others = 0;
  for (let at = from + 1; at < to; at += 2) if (codes[at] !== space) others++;
  for (let at = from; at < to; at++) {
    const offset = offsets?.[at] ?? at;
    if ((at - from) % 2 === 0) builder.add(leet[codes[at]!] || codes[at]!, offset);
    else if (codes[at] === space) {
      const isLong = offsets !== undefined && offsets[at + 1]! - offset > 1;
      if (isLong || others > (to - from) / 4) builder.add(space, offset);
    }
  }
}

/** The text from its end to its beginning. */
export async function reversed(view: View, pace: Pace): Promise<Reading> {
  const { codes } = view;
  const { length } = codes;
  const backwards = new Uint16Array(length);
  await pace.through(0, length, unitsPerStep, (from, to) => {
    for (let at = from; at < to; at++) backwards[length - 1 - at] = codes[at]!;
  });
  return {
    view: { codes: backwards, offsets: undefined },
    encoding: 'reversed',
    isBounded: true,
    spanOf: (start, end) => spanIn(view, length - end, length - start),
  };
}

/** The text with each Latin letter replaced by the 13th after it. */
export async function rotated({ codes, offsets }: View, pace: Pace): Promise<Reading> {
  const turned = new Uint16Array(codes.length);
  await pace.through(0, codes.length, unitsPerStep, (from, to) => {
    for (let at = from; at < to; at++) {
      const code = codes[at]!;
      turned[at] = code >= 97 && code <= 122 ? ((code - 84) % 26) + 97 : code;
    }
  });
  return reading({ codes: turned, offsets }, 'rot13');
}
