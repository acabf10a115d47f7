import { Dictionary } from '../keywords/dictionary.ts';
import type { Pace } from '../pace.ts';
import { endsWord } from '../text/bounds.ts';
import type { Encoding, Reading } from '../views/readings.ts';
import { isWordCode } from '../views/letters.ts';
import type { View } from '../views/view.ts';
import type { Rule } from './pack.ts';

/** Where a rule was found, and how much it counts there. */
export interface RuleHit {
  readonly rule: Rule;
  readonly weight: number;
  readonly start: number;
  readonly end: number;
  readonly encoding: Encoding | undefined;
}

/** A step of a rule in which a term occurs. */
interface Use {
  readonly rule: number;
  readonly step: number;
  /** Whether the term may be the beginning of a word. */
  readonly isStem: boolean;
}

/** Steps of a rule that were found: where the first of them begins and the last ends. */
interface Chain {
  readonly start: number;
  readonly end: number;
}

/** The number of chains kept for each step, because the next step may overlap the last of them. */
const chainsKept = 4;

/** How much a rule counts at a place; null when it does not count there. */
export type Weigher = (rule: Rule, start: number, end: number) => number | null;

/**
 * Evidence adds up only where it stands together: a long text has some sign of everything. The text is divided into blocks,
 * and a window is two of them.
 */
export const blockLength = 300;

/** The hits of each window that has any, of each rule the one that counts the most. */
export async function windowsOf(hits: readonly RuleHit[], pace: Pace): Promise<RuleHit[][]> {
  const blocks = new Map<number, RuleHit[]>();
  for (const hit of hits) {
    const block = blockOf(hit.start);
    const known = blocks.get(block);
    if (known === undefined) blocks.set(block, [hit]);
    else known.push(hit);
  }
  const windows: RuleHit[][] = [];
  for (const [block, first] of blocks) {
    const best = new Map<Rule, RuleHit>();
    for (const hit of [...first, ...(blocks.get(block + 1) ?? [])]) {
      const known = best.get(hit.rule);
      if (known === undefined || known.weight < hit.weight) best.set(hit.rule, hit);
    }
    windows.push([...best.values()]);
    if (windows.length % 64 === 0 && pace.isDue) await pace.rest();
  }
  return windows;
}

const blockOf = (offset: number) => Math.floor(offset / blockLength);

/** All built-in rules, found in one pass over a reading. */
export class RuleIndex {
  readonly rules: readonly Rule[];
  readonly #dictionary = new Dictionary();
  readonly #uses: Use[][] = [];

  constructor(rules: readonly Rule[]) {
    this.rules = rules;
    for (const [rule, { steps }] of rules.entries())
      for (const [step, terms] of steps.entries()) for (const term of terms) this.#add(rule, step, term);
  }

  #add(rule: number, step: number, term: string): void {
    const isStem = term.endsWith('*');
    const number = this.#dictionary.add(isStem ? term.slice(0, -1) : term);
    if (number !== undefined) (this.#uses[number] ??= []).push({ rule, step, isStem });
  }

  /** Finds the rules in a reading: of each rule the place in each block where it counts the most. */
  async find(reading: Reading, pace: Pace, weigh: Weigher): Promise<RuleHit[]> {
    const { view, isBounded } = reading;
    const best = new Map<number, RuleHit>();
    const chains = new Array<Chain[][] | undefined>(this.rules.length);
    const complete = (index: number, start: number, end: number) => {
      const rule = this.rules[index]!;
      const [from, to] = reading.spanOf(start, end);
      const key = blockOf(from) * this.rules.length + index;
      const known = best.get(key);
      if (known !== undefined && known.weight >= rule.weight) return;
      const weight = weigh(rule, start, end);
      if (weight === null || (known !== undefined && known.weight >= weight)) return;
      const encoding = reading.encodingAt?.(start) ?? reading.encoding;
      best.set(key, { rule, weight, start: from, end: to, encoding });
    };
    const hit = (term: number, start: number, found: number) => {
      const ends = !isBounded || endsWord(view, found);
      for (const { rule, step, isStem } of this.#uses[term]!) {
        if (!ends && !isStem) continue;
        // Most words are a later step of rules of which the first was not found.
        if (step > 0 && chains[rule] === undefined) continue;
        const end = ends ? found : endOfWord(view, found);
        const { steps, gaps } = this.rules[rule]!;
        if (steps.length === 1) {
          complete(rule, start, end);
          continue;
        }
        const kept = (chains[rule] ??= steps.map(() => []));
        const first = step === 0 ? start : beginOf(kept[step - 1]!, start, gaps[step - 1]!);
        if (first === undefined) continue;
        if (step === steps.length - 1) complete(rule, first, end);
        else {
          const list = kept[step]!;
          list.push({ start: first, end });
          if (list.length > chainsKept) list.shift();
        }
      }
    };
    await (isBounded ? this.#dictionary.findWords(view, pace, hit) : this.#dictionary.find(view, pace, hit));
    return [...best.values()];
  }
}

/** The characters of a word after its beginning that are taken with it. */
const longestRest = 32;

/** The end of the word of which a stem was found, as far as it is near. */
function endOfWord({ codes }: View, from: number): number {
  let end = from;
  while (end < codes.length && end - from < longestRest && isWordCode(codes[end]!)) end++;
  return end;
}

/** Where the latest chain begins that ends at most `gap` before a place. */
function beginOf(chains: readonly Chain[], before: number, gap: number): number | undefined {
  for (let index = chains.length - 1; index >= 0; index--) {
    const { start, end } = chains[index]!;
    if (end <= before) return before - end <= gap ? start : undefined;
  }
  return undefined;
}
