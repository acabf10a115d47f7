import type { View } from '../views/view.ts';

/** Characters with a column of their own in the dense rows, and the most states that have a dense row. */
const mostColumns = 64;
const mostDenseStates = 8_192;
const root = 0;

/**
 * Finds many keywords in one pass over a view (Aho, Corasick). The states are numbered breadth first, so that the children
 * of a state follow one another, sorted by their character. The states nearest to the root have a row with the next state for
 * each of the commonest characters; the others try their children and then those of the state that they fall back to.
 */
export class Automaton {
  /** The character by which a state is reached, its first child, and the state of its longest proper suffix. */
  readonly #label: Uint16Array;
  readonly #children: Uint32Array;
  readonly #fallback: Uint32Array;
  /** The keyword that ends in a state, plus one, and the nearest suffix at which a keyword ends. */
  readonly #keyword: Uint32Array;
  readonly #shorter: Uint32Array;
  /** The column of each character; 0 for those that have none. */
  readonly #column = new Uint8Array(65_536);
  readonly #rows: Uint32Array;
  readonly #denseStates: number;
  readonly #rootNext = new Uint32Array(65_536);
  readonly lengths: Uint16Array;

  /** Compiles distinct keywords, each as the code units of its folded form. */
  constructor(keywords: readonly Uint16Array[]) {
    const trie = breadthFirst(keywords);
    this.#label = trie.label;
    this.#children = trie.children;
    this.#keyword = trie.keyword;
    this.lengths = Uint16Array.from(keywords, ({ length }) => length);
    const states = trie.label.length;
    this.#fallback = new Uint32Array(states);
    this.#shorter = new Uint32Array(states);
    for (let child = this.#children[root]!; child < this.#children[root + 1]!; child++)
      this.#rootNext[this.#label[child]!] = child;
    for (let state = 1; state < states; state++) this.#linkChildren(state);
    this.#denseStates = Math.min(states, mostDenseStates);
    this.#rows = this.#denseRows();
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

  #next(from: number, code: number): number {
    const place = this.#column[code]!;
    for (let state = from; state !== root; state = this.#fallback[state]!) {
      if (place !== 0 && state < this.#denseStates) return this.#rows[state * mostColumns + place]!;
      const child = this.#child(state, code);
      if (child !== 0) return child;
    }
    return this.#rootNext[code]!;
  }

  #child(state: number, code: number): number {
    let low = this.#children[state]!;
    let high = this.#children[state + 1]!;
    const end = high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#label[middle]! < code) low = middle + 1;
      else high = middle;
    }
    return low < end && this.#label[low] === code ? low : 0;
  }

  /** Links the children of a state whose own links are known. */
  #linkChildren(state: number): void {
    const suffix = this.#fallback[state]!;
    this.#shorter[state] = this.#keyword[suffix] !== 0 ? suffix : this.#shorter[suffix]!;
    for (let child = this.#children[state]!; child < this.#children[state + 1]!; child++) {
      const code = this.#label[child]!;
      let target = 0;
      for (let from = suffix; target === 0 && from !== root; from = this.#fallback[from]!)
        target = this.#child(from, code);
      this.#fallback[child] = target !== 0 ? target : this.#rootNext[code]!;
    }
  }

  #denseRows(): Uint32Array {
    const counts = new Map<number, number>();
    for (const code of this.#label.subarray(1)) counts.set(code, (counts.get(code) ?? 0) + 1);
    const commonest = [...counts].sort((a, b) => b[1] - a[1]).slice(0, mostColumns - 1);
    for (const [index, [code]] of commonest.entries()) this.#column[code] = index + 1;
    const rows = new Uint32Array(this.#denseStates * mostColumns);
    for (let state = 0; state < this.#denseStates; state++)
      for (const [code] of commonest) {
        const column = this.#column[code]!;
        const child = state === root ? this.#rootNext[code]! : this.#child(state, code);
        // A fallback has a smaller number, so that its row is complete.
        rows[state * mostColumns + column] =
          child !== 0 || state === root ? child : rows[this.#fallback[state]! * mostColumns + column]!;
      }
    return rows;
  }
}

/** Numbers the states of the keywords breadth first: a level is built from the sorted keywords that reach it. */
function breadthFirst(keywords: readonly Uint16Array[]) {
  const order = keywords.map((_, index) => index).sort((a, b) => compare(keywords[a]!, keywords[b]!));
  const most = keywords.reduce((sum, { length }) => sum + length, 1);
  const label = new Uint16Array(most);
  const children = new Uint32Array(most + 1);
  const keyword = new Uint32Array(most);
  let states = 1;
  /** The range of sorted keywords below each state of the level. */
  let level = [{ state: root, from: 0, to: order.length }];
  for (let depth = 0; level.length > 0; depth++) {
    const below: typeof level = [];
    for (const { state, from, to } of level) {
      children[state] = states;
      for (let at = from; at < to;) {
        const word = keywords[order[at]!]!;
        if (word.length === depth) {
          keyword[state] = order[at]! + 1;
          at++;
          continue;
        }
        const code = word[depth]!;
        let end = at + 1;
        while (end < to && keywords[order[end]!]![depth] === code) end++;
        label[states] = code;
        below.push({ state: states++, from: at, to: end });
        at = end;
      }
    }
    level = below;
  }
  children[states] = states;
  return {
    label: label.slice(0, states),
    children: children.slice(0, states + 1),
    keyword: keyword.slice(0, states),
  };
}

function compare(a: Uint16Array, b: Uint16Array): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) if (a[at] !== b[at]) return a[at]! - b[at]!;
  return a.length - b.length;
}
