import type { Steps } from '../build.ts';
import type { View } from '../views/view.ts';

/** Characters with a column of their own in the dense rows, and the most states that have a dense row. */
const mostColumns = 64;
const mostDenseStates = 8_192;
const root = 0;
/** States, characters or keywords between two steps of a build. */
const perStep = 512;

interface Links {
  readonly fallback: Uint32Array;
  readonly shorter: Uint32Array;
  readonly rootNext: Uint32Array;
}

interface Rows {
  readonly column: Uint8Array;
  readonly rows: Uint32Array;
}

/**
 * Finds many keywords in one pass over a view (Aho, Corasick). The states are numbered breadth first, so that the children
 * of a state follow one another, sorted by their character. The states nearest to the root have a row with the next state for
 * each of the commonest characters; the others try their children and then those of the state that they fall back to.
 */
export class Automaton {
  readonly lengths: Uint16Array;
  /** The character by which a state is reached, its first child, and the state of its longest proper suffix. */
  readonly #label: Uint16Array;
  readonly #children: Uint32Array;
  readonly #fallback: Uint32Array;
  /** The keyword that ends in a state, plus one, and the nearest suffix at which a keyword ends. */
  readonly #keyword: Uint32Array;
  readonly #shorter: Uint32Array;
  /** The column of each character; 0 for those that have none. */
  readonly #column: Uint8Array;
  readonly #rows: Uint32Array;
  readonly #denseStates: number;
  readonly #rootNext: Uint32Array;

  private constructor(lengths: Uint16Array, trie: Trie, links: Links, { column, rows }: Rows) {
    this.lengths = lengths;
    this.#label = trie.label;
    this.#children = trie.children;
    this.#keyword = trie.keyword;
    this.#fallback = links.fallback;
    this.#shorter = links.shorter;
    this.#rootNext = links.rootNext;
    this.#column = column;
    this.#rows = rows;
    this.#denseStates = rows.length / mostColumns;
  }

  /** Compiles distinct keywords, each as the code units of its folded form. */
  static *build(keywords: readonly Uint16Array[]): Steps<Automaton> {
    const trie = yield* breadthFirst(keywords);
    const links = yield* linked(trie);
    const rows = yield* denseRows(trie, links);
    return new Automaton(
      Uint16Array.from(keywords, ({ length }) => length),
      trie,
      links,
      rows,
    );
  }

  /**
   * Continues in a state over a part of a view, and returns the state at its end. `found` gets each keyword and the position
   * at which it ends, the longest keyword of a position first.
   */
  run(
    view: View,
    from: number,
    to: number,
    state: number,
    found: (keyword: number, end: number) => void,
  ): number {
    const { codes } = view;
    const [column, rows, rootNext, keyword, shorter] = [
      this.#column,
      this.#rows,
      this.#rootNext,
      this.#keyword,
      this.#shorter,
    ];
    const denseStates = this.#denseStates;
    for (let at = from; at < to; at++) {
      const code = codes[at]!;
      if (state === root) state = rootNext[code]!;
      else {
        const place = column[code]!;
        state =
          place !== 0 && state < denseStates ? rows[state * mostColumns + place]! : this.#next(state, code);
      }
      if (state === root) continue;
      for (let ending = state; ending !== root; ending = shorter[ending]!)
        if (keyword[ending] !== 0) found(keyword[ending]! - 1, at + 1);
    }
    return state;
  }

  /**
   * Finds the keywords that begin at some places. Most words are left after a few characters, so that this is faster than to
   * look everywhere; `found` gets the keywords of a place one after the other, the shortest first.
   */
  runAt(view: View, places: Uint32Array, found: (keyword: number, end: number) => void): void {
    const { codes } = view;
    const { length } = codes;
    const [column, rows, children, keyword] = [this.#column, this.#rows, this.#children, this.#keyword];
    const rootNext = this.#rootNext;
    const denseStates = this.#denseStates;
    for (const start of places) {
      let state = rootNext[codes[start]!]!;
      for (let at = start + 1; state !== root; at++) {
        if (keyword[state] !== 0) found(keyword[state]! - 1, at);
        if (at === length) break;
        const code = codes[at]!;
        const place = column[code]!;
        if (place !== 0 && state < denseStates) {
          const next = rows[state * mostColumns + place]!;
          // Other states than children are those of a suffix.
          state = next >= children[state]! && next < children[state + 1]! ? next : root;
        } else state = childOf(state, code, this.#label, children);
      }
    }
  }

  #next(from: number, code: number): number {
    const place = this.#column[code]!;
    for (let state = from; state !== root; state = this.#fallback[state]!) {
      if (place !== 0 && state < this.#denseStates) return this.#rows[state * mostColumns + place]!;
      const child = childOf(state, code, this.#label, this.#children);
      if (child !== root) return child;
    }
    return this.#rootNext[code]!;
  }
}

/** The child of a state by a character; the root when there is none. */
function childOf(state: number, code: number, label: Uint16Array, children: Uint32Array): number {
  let low = children[state]!;
  let high = children[state + 1]!;
  const end = high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (label[middle]! < code) low = middle + 1;
    else high = middle;
  }
  return low < end && label[low] === code ? low : root;
}

interface Trie {
  readonly label: Uint16Array;
  readonly children: Uint32Array;
  readonly keyword: Uint32Array;
}

/** Numbers the states of the keywords breadth first: the keywords below a state are divided by their next character. */
function* breadthFirst(keywords: readonly Uint16Array[]): Steps<Trie> {
  const most = keywords.reduce((sum, { length }) => sum + length, 1);
  const label = new Uint16Array(most);
  const children = new Uint32Array(most + 1);
  const keyword = new Uint32Array(most);
  const order = Uint32Array.from(keywords, (_, index) => index);
  /** The range of the order below each state. */
  const from = new Uint32Array(most);
  const to = new Uint32Array(most);
  to[root] = order.length;
  let states = 1;
  let levelEnd = 1;
  for (let state = 0, depth = 0, work = 0; state < states; state++) {
    if (state === levelEnd) {
      depth++;
      levelEnd = states;
    }
    children[state] = states;
    const ranges = divided(keywords, order, from[state]!, to[state]!, depth);
    for (const [code, first, last] of ranges) {
      if (code === ended) keyword[state] = order[first]! + 1;
      else {
        label[states] = code;
        from[states] = first;
        to[states++] = last;
      }
    }
    work += 1 + to[state]! - from[state]!;
    if (work < perStep) continue;
    work = 0;
    yield;
  }
  children[states] = states;
  return {
    label: label.slice(0, states),
    children: children.slice(0, states + 1),
    keyword: keyword.slice(0, states),
  };
}

/** In place of the character of a keyword that has no more. */
const ended = -1;

type Range = readonly [code: number, first: number, last: number];

/** Orders a range of keywords by the character at a depth, and returns the range of each character. */
function divided(
  keywords: readonly Uint16Array[],
  order: Uint32Array,
  from: number,
  to: number,
  depth: number,
): Range[] {
  if (to - from === 1) return [[keywords[order[from]!]![depth] ?? ended, from, to]];
  const byCode = new Map<number, number[]>();
  for (let at = from; at < to; at++) {
    const code = keywords[order[at]!]![depth] ?? ended;
    const list = byCode.get(code);
    if (list === undefined) byCode.set(code, [order[at]!]);
    else list.push(order[at]!);
  }
  let first = from;
  return [...byCode]
    .sort(([a], [b]) => a - b)
    .map(([code, list]) => {
      order.set(list, first);
      const range = [code, first, first + list.length] as const;
      first += list.length;
      return range;
    });
}

/** Links each state to that of its longest proper suffix, which has a smaller number. */
function* linked({ label, children, keyword }: Trie): Steps<Links> {
  const fallback = new Uint32Array(label.length);
  const shorter = new Uint32Array(label.length);
  const rootNext = new Uint32Array(65_536);
  for (let child = children[root]!; child < children[root + 1]!; child++) rootNext[label[child]!] = child;
  for (let state = 1; state < label.length; state++) {
    const suffix = fallback[state]!;
    shorter[state] = keyword[suffix] !== 0 ? suffix : shorter[suffix]!;
    for (let child = children[state]!; child < children[state + 1]!; child++) {
      const code = label[child]!;
      let target = root;
      for (let from = suffix; target === root && from !== root; from = fallback[from]!)
        target = childOf(from, code, label, children);
      fallback[child] = target !== root ? target : rootNext[code]!;
    }
    if (state % perStep === 0) yield;
  }
  return { fallback, shorter, rootNext };
}

function* denseRows({ label, children }: Trie, { fallback }: Links): Steps<Rows> {
  const counts = new Uint32Array(65_536);
  for (let state = 1; state < label.length; state++) {
    counts[label[state]!]!++;
    if (state % (perStep * 16) === 0) yield;
  }
  const column = new Uint8Array(65_536);
  const codes = Array.from(counts.keys()).filter((code) => counts[code]! > 0);
  const commonest = codes.sort((a, b) => counts[b]! - counts[a]!).slice(0, mostColumns - 1);
  for (const [index, code] of commonest.entries()) column[code] = index + 1;
  yield;
  const denseStates = Math.min(label.length, mostDenseStates);
  const rows = new Uint32Array(denseStates * mostColumns);
  for (let state = 0; state < denseStates; state++) {
    const row = state * mostColumns;
    // A suffix has a smaller number, so that its row is complete.
    const suffix = fallback[state]! * mostColumns;
    if (state !== root) rows.copyWithin(row, suffix, suffix + mostColumns);
    for (let child = children[state]!; child < children[state + 1]!; child++)
      if (column[label[child]!] !== 0) rows[row + column[label[child]!]!] = child;
    if (state % perStep === 0) yield;
  }
  return { column, rows };
}
