import { Build, type Steps } from '../build.ts';
import type { Pace } from '../pace.ts';
import { Spans } from '../text/spans.ts';
import { mostInstructions } from './checks.ts';
import { Table } from './table.ts';

/** The most characters of a match: a longer one is found by its beginning of this length, if that matches. */
export const longestMatch = 512;
const charactersPerStep = 512;
/** About the instructions of the expressions that are found by one pass over the text. */
const mostTogether = 20_000;

/** Expressions that are compiled together, and the number of the first of them. */
interface Group {
  readonly first: number;
  readonly table: Table;
}

/**
 * The tenant's expressions of a matcher. A pass over the text finds which of them match and where their matches end; only
 * those are searched for the places where their matches begin. All matches are found, each as long as possible.
 */
export class Expressions {
  readonly sources: readonly string[];
  readonly programSize: number;
  readonly #groups: Build<readonly Group[]>;
  readonly #alone: (Build<Table> | undefined)[] = [];

  constructor(sources: readonly string[]) {
    this.sources = [...new Set(sources)];
    this.programSize = this.sources.reduce((sum, source) => sum + likelySize(source), 0);
    this.#groups = new Build(() => groupsOf(this.sources));
  }

  /** The matches of each expression that has any. Empty ones do not count. */
  async find(text: string, pace: Pace): Promise<Map<string, Spans>> {
    const found = new Map<string, Spans>();
    for (const { first, table } of await this.#groups.result(pace))
      for (const [index, regions] of await this.#regions(table, text, pace)) {
        const source = this.sources[first + index]!;
        const alone = await this.#aloneOf(first + index).result(pace);
        const spans = new Spans();
        for (const [from, to] of regions) await search(alone, text, from, to, pace, spans);
        if (spans.count > 0) found.set(source, spans);
      }
    return found;
  }

  #aloneOf(index: number): Build<Table> {
    return (this.#alone[index] ??= new Build(() => Table.build([this.sources[index]!], 'here')));
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
      while (at < to) {
        const rune = text.codePointAt(at)!;
        state = table.step(state, rune, spend);
        if (state.isMatch) note(at);
        at += rune > 0xffff ? 2 : 1;
        if (pace.isDueAfterWork) await pace.rest();
      }
    }
    state = table.end(state, spend);
    if (state.isMatch) note(text.length);
    return regions;
  }
}

function* groupsOf(sources: readonly string[]): Steps<Group[]> {
  const groups: Group[] = [];
  for (let first = 0; first < sources.length;) {
    let next = first;
    for (let size = 0; next < sources.length && (next === first || size < mostTogether); next++)
      size += likelySize(sources[next]!);
    groups.push({ first, table: yield* Table.build(sources.slice(first, next), 'anywhere') });
    first = next;
  }
  return groups;
}

const counts = /\{(\d{1,4})(?:,(\d{0,4}))?\}/g;

/** About how many instructions an expression has. To know it exactly takes as long as to compile it. */
function likelySize(source: string): number {
  let times = 1;
  for (const [, from, to] of source.matchAll(counts)) times = Math.max(times, Number(from), Number(to || 0));
  return Math.min(mostInstructions, source.length * times);
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
      if (pace.isDueAfterWork) await pace.rest();
    }
    pace.spend(at - begin + 4);
    if (end > begin) spans.add(begin, end);
    begin = end > begin ? end : begin + (text.codePointAt(begin)! > 0xffff ? 2 : 1);
    if (pace.isDueAfterWork) await pace.rest();
  }
}

const isLowHalf = (text: string, at: number) => at > 0 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
