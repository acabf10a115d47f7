import { grown, int32 } from './columns.ts';

/**
 * Stores every text of the facts once, as a small integer with a count of its holders: kinds, relation names, ids, role ids. A
 * text without holders is forgotten, so texts from callers' questions cannot pile up.
 */
export class Strings {
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];
  #holders: Int32Array = new Int32Array(1_024);
  readonly #free: number[] = [];
  /** Numbers of the most recently used names, each in its slot; -1 when empty. */
  readonly #recent = new Int32Array(64).fill(-1);
  /** Estimated bytes held: the string, its map entry and its slots. */
  bytes = 0;

  /** Returns the number of a text, or -1 when nothing holds it. */
  find(text: string): number {
    return this.#numbers.get(text) ?? -1;
  }

  text(number: number): string {
    return this.#texts[number] ?? '';
  }

  /** Returns the number of a text with one more holder. Pair each call with `release`. */
  hold(text: string): number {
    const number = this.intern(text);
    this.holdAgain(number);
    return number;
  }

  /** Returns the number of a text and assigns one if nothing holds it. The caller must then hold it, or it is never forgotten. */
  intern(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.#texts.length;
    if (number >= this.#holders.length) this.#holders = grown(this.#holders, int32);
    this.#texts[number] = text;
    this.#numbers.set(text, number);
    this.bytes += bytesOf(text);
    return number;
  }

  /** Like `intern`, for kinds and relations: these are few and recur, so comparing is cheaper than hashing. */
  internName(text: string): number {
    const place = placeOf(text);
    const recent = this.#recent[place]!;
    if (recent >= 0 && this.#texts[recent] === text) return recent;
    return (this.#recent[place] = this.intern(text));
  }

  holdAgain(number: number): void {
    this.#holders[number]!++;
  }

  release(number: number): void {
    if (--this.#holders[number]! > 0) return;
    const text = this.text(number);
    if (this.#recent[placeOf(text)] === number) this.#recent[placeOf(text)] = -1;
    this.#numbers.delete(text);
    this.#texts[number] = '';
    this.#free.push(number);
    this.bytes -= bytesOf(text);
  }
}

/** Uses the cheapest property that tells names apart; 0 for ''. */
const placeOf = (text: string) => (text.length + text.charCodeAt(text.length - 1)) & 63;

/** A string's header and characters, rounded up, its map entry and its slots in two arrays. */
const bytesOf = (text: string) => 24 + ((text.length + 7) & ~7) + 56;
