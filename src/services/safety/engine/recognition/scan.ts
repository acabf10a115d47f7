import { classOf, alphanumeric, digit, isSpacedLetter, underscore } from './characters.ts';
import {
  type ContextWords,
  contextWordsOf,
  isCounter,
  isExample,
  isRaised,
  lowering,
  type Neighbours,
  neighbours,
  raise,
} from './context.ts';
import type { Detector, FormsRequest } from './recognised.ts';
import { type Wishes, wishesOf } from './wishes.ts';

/** What a recogniser found, in offsets of the plain text. */
export interface Candidate {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly score: number;
  readonly normalised: string;
  /** Whether a context word stands nearby. */
  readonly isNamed: boolean;
}

interface Scored {
  readonly base: number;
  readonly isSecret: boolean;
  readonly context: ContextWords;
}

/** What the detectors of a catalogue need for scoring, by id. */
export type Scoring = ReadonlyMap<string, Scored>;

export const scoringOf = (detectors: readonly Detector[]): Scoring =>
  new Map(
    detectors.map(({ id, focus, base_score, context_words }) => [
      id,
      { base: base_score, isSecret: focus === 'secrets', context: contextWordsOf(context_words) },
    ]),
  );

/** One pass over a text: what is looked for, what was found, and the work done so far. */
export class Scan {
  readonly text: string;
  /** The country of national phone numbers, and those that are tried where a word says that a number is one. */
  readonly region: string | undefined;
  readonly phoneRegions: readonly string[];
  readonly found: Candidate[] = [];
  /** In characters looked at, about 10 ns each. Recognisers add what they cost beyond the run that called them. */
  work = 0;
  /** Where the URL, the phone candidate or the address ends that has been looked at already. */
  pastUrl = 0;
  pastPhone = 0;
  pastColons = 0;
  /** The row of digits in which a national phone number was looked for, and at how many places. */
  readonly row = { end: 0, beginnings: 0 };

  readonly wishes: Wishes;
  readonly #wanted: ReadonlySet<string>;
  readonly #scoring: Scoring;
  #around: { start: number; end: number; words: Neighbours } | undefined;

  constructor(
    text: string,
    wanted: ReadonlySet<string>,
    scoring: Scoring,
    { region, phoneRegions = [] }: Pick<FormsRequest, 'region' | 'phoneRegions'>,
  ) {
    this.text = text;
    this.region = region;
    this.phoneRegions = phoneRegions;
    this.wishes = wishesOf(wanted);
    this.#wanted = wanted;
    this.#scoring = scoring;
  }

  wants(type: string): boolean {
    return this.#wanted.has(type);
  }

  /**
   * Adds a finding with the score of its base and its neighbours.
   * @param base replaces that of the catalogue
   * @param isCounted whether something else than neighbours says that it counts things, unless they name it
   */
  add(
    type: string,
    start: number,
    end: number,
    normalised: string,
    base?: number,
    isCounted: boolean = false,
  ): void {
    if (!this.#wanted.has(type)) return;
    const scored = this.#scoring.get(type)!;
    const words = this.#neighbours(start, end);
    let score = base ?? scored.base;
    const isNamed = !scored.isSecret && isRaised(words, scored.context);
    if (scored.isSecret) {
      if (isExample(words)) score -= lowering;
    } else {
      if (isNamed) score += raise;
      if (isCounter(words) || (isCounted && !isNamed)) score -= lowering;
    }
    score = Math.round(Math.min(0.99, score) * 10_000) / 10_000;
    if (score > 0) this.found.push({ type, start, end, score, normalised, isNamed });
  }

  get hasRegions(): boolean {
    return this.region !== undefined || this.phoneRegions.length > 0;
  }

  /** Whether a context word of a detector stands near. */
  isNamed(type: string, start: number, end: number): boolean {
    return isRaised(this.#neighbours(start, end), this.#scoring.get(type)!.context);
  }

  #neighbours(start: number, end: number): Neighbours {
    if (this.#around?.start !== start || this.#around.end !== end) {
      this.#around = { start, end, words: neighbours(this.text, start, end) };
      this.work += 200;
    }
    return this.#around.words;
  }

  /** Whether a form may begin here: no word, and no longer number, goes on from before it. */
  begins(at: number): boolean {
    const before = this.text.charCodeAt(at - 1);
    if ((classOf(before) & (alphanumeric | underscore)) !== 0 || isSpacedLetter(before)) return false;
    return !(isJoint(before) && (classOf(this.text.charCodeAt(at - 2)) & digit) !== 0);
  }

  /** Whether a form may end here: no word, and no longer number, goes on behind it. */
  ends(at: number): boolean {
    const next = this.text.charCodeAt(at);
    if ((classOf(next) & (alphanumeric | underscore)) !== 0 || isSpacedLetter(next)) return false;
    return !(isJoint(next) && (classOf(this.text.charCodeAt(at + 1)) & digit) !== 0);
  }
}

/** `-`, `.` and `/` join the parts of one number. */
const isJoint = (unit: number): boolean => unit >= 45 && unit <= 47;
