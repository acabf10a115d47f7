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

/** An instruction of a program. Others are named by their places; 0 is the place of the one that fails. */
interface Instruction {
  readonly op: number;
  out: number;
  /** Another instruction, the number of the expression that matches, or something that concerns no other instruction. */
  arg: number;
}

interface Program {
  readonly inst: Instruction[];
  start: number;
}

/** The members of the library's automaton that are used. They are declared, but as `any`. */
interface Automaton {
  readonly prog: Program;
  /** The first characters of the classes of characters that the program tells apart. */
  classBounds: Int32Array;
  numClasses: number;
  /** The classes of the first 256 characters. */
  latin1Class: Int32Array;
  searchClass(rune: number): number;
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

  /** Each expression is compiled in a step of its own: the library would compile all of them in one. */
  static *build(sources: readonly string[], anchor: 'anywhere' | 'here'): Steps<Table> {
    const [first = '', ...others] = sources;
    const whole = automatonOf(first);
    const bounds = new Set(whole.classBounds);
    yield;
    for (const [index, source] of others.entries()) {
      const one = automatonOf(source);
      append(whole.prog, one.prog, index + 1);
      for (const bound of one.classBounds) bounds.add(bound);
      yield;
    }
    if (others.length > 0) distinguish(whole, bounds);
    return new Table(whole, anchor === 'anywhere' ? RE2Set.UNANCHORED : RE2Set.ANCHOR_START);
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

function automatonOf(source: string): Automaton {
  const set = new RE2Set(RE2Set.UNANCHORED, 0, mostMemory);
  set.add(source);
  set.compile();
  return set.dfa;
}

/** The operations of instructions that name another one in `arg`, and of those that match. */
const alternatives: ReadonlySet<number> = new Set([1, 2]);
const match = 6;

/** Adds a program to another one, as that of the expression with this number: either of them may match. */
function append(to: Program, { inst: [fail, ...added], start }: Program, expression: number): void {
  const offset = to.inst.length - 1;
  const moved = (place: number) => (place === 0 ? 0 : place + offset);
  for (const instruction of added) {
    instruction.out = moved(instruction.out);
    if (alternatives.has(instruction.op)) instruction.arg = moved(instruction.arg);
    if (instruction.op === match) instruction.arg = expression;
    to.inst.push(instruction);
  }
  const Kind = fail!.constructor as new (op: number) => Instruction;
  to.inst.push(Object.assign(new Kind(1), { out: to.start, arg: moved(start) }));
  to.start = to.inst.length - 1;
}

/** Makes an automaton tell these classes of characters apart. */
function distinguish(automaton: Automaton, bounds: ReadonlySet<number>): void {
  automaton.classBounds = Int32Array.from(bounds).sort();
  automaton.numClasses = bounds.size + 1;
  automaton.latin1Class = automaton.latin1Class.map((_, rune) => automaton.searchClass(rune));
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
