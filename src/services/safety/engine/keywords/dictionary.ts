import type { Pace } from '../pace.ts';
import { fold } from '../views/folding.ts';
import { isWordCode, kindOf, unspaced } from '../views/letters.ts';
import { textOf, type View } from '../views/view.ts';
import { Automaton } from './automaton.ts';

/** Whether keywords must be whole words. */
export type Bounds = 'word' | 'substring';

const unitsPerStep = 2_048;

/** Keywords in their folded forms, numbered in the order in which they are added. */
export class Dictionary {
  readonly #numbers = new Map<string, number>();
  readonly #folded: Uint16Array[] = [];
  #automaton: Automaton | undefined;

  get size(): number {
    return this.#folded.length;
  }

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

  /** Finds the keywords in a view; `hit` gets them by ascending end. */
  async find(view: View, pace: Pace, hit: (term: number, start: number, end: number) => void): Promise<void> {
    if (this.#folded.length === 0) return;
    const automaton = (this.#automaton ??= new Automaton(this.#folded));
    const { lengths } = automaton;
    const found = (term: number, end: number) => hit(term, end - lengths[term]!, end);
    let state = 0;
    await pace.through(0, view.codes.length, unitsPerStep, (from, to) => {
      state = automaton.run(view, from, to, state, found);
    });
  }
}

/** Whether a part of a view begins where a word begins, as far as its script has such bounds. */
export const beginsWord = ({ codes }: View, start: number): boolean =>
  start === 0 || isBound(codes[start - 1]!, codes[start]!);

export const endsWord = ({ codes }: View, end: number): boolean =>
  end === codes.length || isBound(codes[end - 1]!, codes[end]!);

function isBound(left: number, right: number): boolean {
  if (!isWordCode(left) || !isWordCode(right)) return true;
  return (kindOf(left) & unspaced) !== 0 || (kindOf(right) & unspaced) !== 0;
}
