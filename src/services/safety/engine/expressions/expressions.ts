import { RE2JS } from 're2js';
import type { Pace } from '../pace.ts';
import { Spans } from '../text/spans.ts';
import { Table } from './table.ts';

/** The most characters of a match: a longer one is found by its beginning of this length, if that matches. */
export const longestMatch = 512;
const charactersPerStep = 2_048;

/**
 * The tenant's expressions of a matcher. One pass over the text finds which of them match and where their matches end; only
 * those are searched for the places where their matches begin. All matches are found, each as long as possible.
 */
export class Expressions {
  readonly sources: readonly string[];
  readonly programSize: number;
  readonly #all: Table | undefined;
  readonly #alone: (Table | undefined)[] = [];

  constructor(sources: readonly string[]) {
    this.sources = [...new Set(sources)];
    this.programSize = this.sources.reduce((sum, source) => sum + RE2JS.compile(source).programSize(), 0);
    this.#all = this.sources.length > 0 ? new Table(this.sources, 'anywhere') : undefined;
  }

  /** The matches of each expression that has any. Empty ones do not count. */
  async find(text: string, pace: Pace): Promise<Map<string, Spans>> {
    const found = new Map<string, Spans>();
    if (this.#all === undefined) return found;
    for (const [index, regions] of await this.#regions(this.#all, text, pace)) {
      const table = (this.#alone[index] ??= new Table([this.sources[index]!], 'here'));
      const spans = new Spans();
      for (const [from, to] of regions) await search(table, text, from, to, pace, spans);
      if (spans.count > 0) found.set(this.sources[index]!, spans);
    }
    return found;
  }

  /** The parts of the text in which the matches of each expression lie. */
  async #regions(table: Table, text: string, pace: Pace): Promise<Map<number, Spans>> {
    const regions = new Map<number, Spans>();
    const spend = (units: number) => pace.spend(units);
    let state = table.start(text, 0);
    const note = (end: number) => {
      for (const index of state.matchIDs) {
        let spans = regions.get(index);
        if (spans === undefined) regions.set(index, (spans = new Spans()));
        spans.add(Math.max(0, end - longestMatch), end);
        pace.spend(1);
      }
    };
    let at = 0;
    while (at < text.length) {
      const to = Math.min(text.length, at + charactersPerStep);
      pace.spend(to - at);
      for (let steps = 0; at < to; steps++) {
        const rune = text.codePointAt(at)!;
        state = table.step(state, rune, spend);
        if (state.isMatch) note(at);
        at += rune > 0xffff ? 2 : 1;
        // A state that has to be made may take long.
        if (steps % 16 === 15 && pace.isDue) await pace.rest();
      }
    }
    state = table.end(state, spend);
    if (state.isMatch) note(text.length);
    return regions;
  }
}

/** Adds the matches that begin in a part of the text. */
async function search(
  table: Table,
  text: string,
  from: number,
  to: number,
  pace: Pace,
  spans: Spans,
): Promise<void> {
  const spend = (units: number) => pace.spend(units);
  let first = from;
  // A part may begin between the halves of a pair.
  if (isLowHalf(text, first)) first++;
  for (let begin = first; begin < to;) {
    let state = table.start(text, begin);
    let end = begin;
    let at = begin;
    const last = Math.min(text.length, begin + longestMatch);
    for (;;) {
      if (at >= text.length) {
        if (table.end(state, spend).isMatch) end = text.length;
        break;
      }
      const rune = text.codePointAt(at)!;
      state = table.step(state, rune, spend);
      if (state.isMatch) end = at;
      if (state.nfaStates.length === 0 || at >= last) break;
      at += rune > 0xffff ? 2 : 1;
    }
    pace.spend(at - begin + 4);
    if (end > begin) spans.add(begin, end);
    begin = end > begin ? end : begin + (text.codePointAt(begin)! > 0xffff ? 2 : 1);
    if (pace.isDue) await pace.rest();
  }
}

const isLowHalf = (text: string, at: number) => at > 0 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
