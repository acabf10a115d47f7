import { RE2Set } from 're2js';
import type { Steps } from '../build.ts';
import { Interrupted } from '../pace.ts';

/** A state of the automaton, of which the library's types say nothing. */
export interface State {
  readonly next: (State | null)[] | null;
  readonly nextAnchored: (State | null)[] | null;
  readonly isMatch: boolean;
  readonly matchIDs: readonly number[];
  readonly nfaStates: readonly number[];
}

interface Input {
  context(at: number): number;
  step(at: number): number;
}

/** The members of the library's automaton that are used. They are declared, but as `any`. */
interface Automaton {
  readonly numClasses: number;
  runeClass(rune: number): number;
  start(input: Input, at: number): State | null;
  step(state: State, column: number, rune: number, anchor: number): State | null;
  resetCache(state: State): State | null;
}

/** Bytes of the states that are kept. When they are used up, the automaton begins anew. */
const mostMemory = 2_097_152;
const endOfText = -1;
/** Units of work of a state that has to be made, for each instruction that it consists of and besides. */
const unitsPerInstruction = 5;
const unitsOfState = 60;

/**
 * The automaton of some expressions, driven one character at a time, so that the work can be counted and interrupted between
 * any two characters: a step takes constant time when its state is known, and else time linear in the programs.
 */
export class Table {
  readonly #automaton: Automaton;
  readonly #anchor: number;

  private constructor(automaton: Automaton, anchor: number) {
    this.#automaton = automaton;
    this.#anchor = anchor;
  }

  static *build(sources: readonly string[], anchor: 'anywhere' | 'here'): Steps<Table> {
    const set = new RE2Set(RE2Set.UNANCHORED, 0, mostMemory);
    for (const source of sources) {
      set.add(source);
      yield;
    }
    set.compile();
    return new Table(set.dfa, anchor === 'anywhere' ? RE2Set.UNANCHORED : RE2Set.ANCHOR_START);
  }

  /** The state before a position of a text. */
  start(text: string, at: number): State {
    const state = this.#automaton.start(inputOf(text), at);
    if (state === null) throw new Interrupted('engine.limit');
    return state;
  }

  /** The state after one more character, or after the end of the text. A match in it ended before that character. */
  step(state: State, rune: number, spend: (units: number) => void): State {
    const automaton = this.#automaton;
    const column = rune === endOfText ? automaton.numClasses : automaton.runeClass(rune);
    const row = this.#anchor === RE2Set.UNANCHORED ? state.next : state.nextAnchored;
    const known = row?.[column];
    if (known) return known;
    spend(unitsOfState + unitsPerInstruction * state.nfaStates.length);
    let next = automaton.step(state, column, rune, this.#anchor);
    if (next === null) {
      const kept = automaton.resetCache(state);
      next = kept && automaton.step(kept, column, rune, this.#anchor);
    }
    // One state alone may be larger than the memory.
    if (next === null) throw new Interrupted('engine.limit');
    return next;
  }

  end(state: State, spend: (units: number) => void): State {
    return this.step(state, endOfText, spend);
  }
}

/** What the automaton has to know of the text to begin: the characters around a position, as flags. */
const inputOf = (text: string): Input => ({
  context(at) {
    const before = at > 0 ? text.charCodeAt(at - 1) : -1;
    const after = at < text.length ? text.charCodeAt(at) : -1;
    return (
      (before < 0 ? beginText | beginLine : before === newLine ? beginLine : 0) |
      (after < 0 ? endText | endLine : after === newLine ? endLine : 0) |
      (isWord(before) === isWord(after) ? noWordBound : wordBound)
    );
  },
  step(at) {
    if (at >= text.length) return -8;
    const point = text.codePointAt(at)!;
    return point * 8 + (point > 0xffff ? 2 : 1);
  },
});

const beginLine = 1;
const endLine = 2;
const beginText = 4;
const endText = 8;
const wordBound = 16;
const noWordBound = 32;
const newLine = 10;
const isWord = (code: number) =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
