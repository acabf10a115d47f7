import type { Pace } from '../pace.ts';
import { decoded } from './decoding.ts';
import { reversed, rotated, spelledOut, unleeted } from './disguises.ts';
import { Folder, type Folded } from './folding.ts';
import { reading, type Reading } from './readings.ts';

const charactersPerStep = 8_192;

/** The views of one text, each made when it is first needed. */
export class TextViews {
  readonly text: string;
  readonly folded: Folded;
  readonly plain: Reading;
  readonly #pace: Pace;
  #leet: Reading | undefined | null = null;

  private constructor(text: string, folded: Folded, pace: Pace) {
    this.text = text;
    this.folded = folded;
    this.plain = reading(folded, undefined);
    this.#pace = pace;
  }

  static async of(text: string, pace: Pace): Promise<TextViews> {
    const folder = new Folder(text);
    await pace.through(0, text.length, charactersPerStep, (from, to) => folder.fold(from, to));
    return new TextViews(text, folder.build(), pace);
  }

  /** Whether the folded view differs from the text in case and white space only. */
  get isAscii(): boolean {
    return !/[^\0-\x7f]/.test(this.text);
  }

  /** The text without digits and signs in place of letters; undefined when it has none. */
  get leet(): Reading | undefined {
    if (this.#leet === null) this.#leet = unleeted(this.folded);
    return this.#leet;
  }

  /** The other forms in which an attack may be hidden. */
  async disguises(): Promise<Reading[]> {
    await this.#restIfDue();
    const found = [this.leet];
    await this.#restIfDue();
    found.push(spelledOut(this.folded));
    await this.#restIfDue();
    found.push(await decoded(this.text, this.#pace));
    return found.filter((candidate) => candidate !== undefined);
  }

  reversed = (): Reading => reversed(this.folded);

  rotated = (): Reading => rotated(this.folded);

  async #restIfDue(): Promise<void> {
    if (this.#pace.isDue) await this.#pace.rest();
  }
}
