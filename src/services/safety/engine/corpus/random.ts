/** Random choices that a seed repeats: mulberry32. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0 and below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `first` to `last`. */
  between(first: number, last: number): number {
    return first + Math.floor(this.next() * (last - first + 1));
  }

  pick<Each>(choices: readonly Each[]): Each {
    return choices[this.between(0, choices.length - 1)]!;
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  /** Characters of an alphabet; the length may be chosen from two bounds. */
  characters(alphabet: string, length: number, longest = length): string {
    let text = '';
    for (let left = this.between(length, longest); left > 0; left--)
      text += alphabet.charAt(this.between(0, alphabet.length - 1));
    return text;
  }

  digits(length: number): string {
    return this.characters('0123456789', length);
  }

  /** What `make` makes, as soon as it is right. */
  until<Value>(make: () => Value, isRight: (value: Value) => boolean): Value {
    for (;;) {
      const value = make();
      if (isRight(value)) return value;
    }
  }
}

export const upperLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
export const lowerLetters = upperLetters.toLowerCase();
export const digits = '0123456789';
export const base62 = digits + upperLetters + lowerLetters;
export const urlSafe = `${base62}-_`;
export const base64 = `${base62}+/`;
export const hex = '0123456789abcdef';
