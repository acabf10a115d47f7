import { Build } from '../build.ts';
import type { Pace } from '../pace.ts';
import { beginningsOf } from '../text/bounds.ts';
import { fold } from '../views/folding.ts';
import { textOf, type View } from '../views/view.ts';
import { Automaton } from './automaton.ts';

/** Gets the number of a keyword and where it was found. */
type Hit = (term: number, start: number, end: number) => void;

const unitsPerStep = 2_048;
const wordsPerStep = 512;
const keywordsPerStep = 64;

/** Keywords in their folded forms, numbered in the order in which they are added. */
export class Dictionary {
  readonly #numbers = new Map<string, number>();
  readonly #folded: Uint16Array[] = [];
  readonly #automaton = new Build(() => Automaton.build(this.#folded));

  /** The number of a keyword; undefined when it consists of invisible characters. Equal folded forms have the same number. */
  add(keyword: string): number | undefined {
    const view = fold(keyword.trim());
    const form = textOf(view);
    if (form.trim() === '') return undefined;
    let number = this.#numbers.get(form);
    if (number === undefined) {
      number = this.#folded.length;
      this.#numbers.set(form, number);
      this.#folded.push(view.codes);
    }
    return number;
  }

  /** Finds the keywords anywhere in a view; `hit` gets them by ascending end. No keyword can be added afterwards. */
  async find(view: View, pace: Pace, hit: Hit): Promise<void> {
    if (this.#folded.length === 0) return;
    const automaton = await this.#automaton.result(pace);
    const { lengths } = automaton;
    const found = (term: number, end: number) => hit(term, end - lengths[term]!, end);
    let state = 0;
    await pace.through(0, view.codes.length, unitsPerStep, (from, to) => {
      state = automaton.run(view, from, to, state, found);
    });
  }

  /** Finds the keywords that begin where a word begins; `hit` gets them by ascending start. */
  async findWords(view: View, pace: Pace, hit: Hit): Promise<void> {
    if (this.#folded.length === 0) return;
    const automaton = await this.#automaton.result(pace);
    const { lengths } = automaton;
    const found = (term: number, end: number) => hit(term, end - lengths[term]!, end);
    const places = await beginningsOf(view, pace);
    await pace.through(0, places.length, wordsPerStep, (from, to) =>
      automaton.runAt(view, places.subarray(from, to), found),
    );
  }
}

/** Adds many keywords in steps, and returns the number of each. */
export function* numbersOf(keywords: Iterable<string>, dictionary: Dictionary) {
  const numbers = new Map<string, number | undefined>();
  let added = 0;
  for (const keyword of keywords) {
    if (!numbers.has(keyword)) numbers.set(keyword, dictionary.add(keyword));
    if (++added % keywordsPerStep === 0) yield;
  }
  return numbers;
}
