import type { Pace } from '../pace.ts';
import { divided } from './camel-case.ts';
import { decoded } from './decoding.ts';
import { disguisesOf, reversed, rotated, spelledOut, unleeted, type Disguises } from './disguises.ts';
import { betweenFillers } from './fillers.ts';
import { folded, type Folded } from './folding.ts';
import { withoutMarkup } from './markup.ts';
import { reading, type Reading } from './readings.ts';

/** The views of one text, each made when it is first needed. */
export class TextViews {
  readonly text: string;
  readonly folded: Folded;
  readonly plain: Reading;
  readonly #pace: Pace;
  #disguises: Promise<Disguises> | undefined;
  #leet: Promise<Reading | undefined> | undefined;

  private constructor(text: string, folded: Folded, pace: Pace) {
    this.text = text;
    this.folded = folded;
    this.plain = reading(folded, undefined);
    this.#pace = pace;
  }

  static async of(text: string, pace: Pace): Promise<TextViews> {
    return new TextViews(text, await folded(text, pace), pace);
  }

  /** Whether the folded view differs from the text in case and white space only. */
  get isAscii(): boolean {
    return !/[^\0-\x7f]/.test(this.text);
  }

  /** The text without digits and signs in place of letters; undefined when it has none. */
  leet(): Promise<Reading | undefined> {
    return (this.#leet ??= this.#findLeet());
  }

  /** The other forms in which an attack may be hidden. */
  async disguises(): Promise<Reading[]> {
    const { isSpelled } = await this.#traces();
    const found = [
      await this.leet(),
      isSpelled ? await spelledOut(this.folded, this.#pace) : undefined,
      await divided(this.text, this.folded, this.#pace),
      await withoutMarkup(this.text, this.folded, this.#pace),
      this.folded.signs.invisibles > 0 || this.text.includes('\\')
        ? await betweenFillers(this.text, this.#pace)
        : undefined,
      await decoded(this.text, this.#pace),
    ];
    return found.filter((candidate) => candidate !== undefined);
  }

  reversed = (): Promise<Reading> => reversed(this.folded, this.#pace);

  rotated = (): Promise<Reading> => rotated(this.folded, this.#pace);

  #traces(): Promise<Disguises> {
    return (this.#disguises ??= disguisesOf(this.folded, this.#pace));
  }

  async #findLeet(): Promise<Reading | undefined> {
    return (await this.#traces()).isLeet ? unleeted(this.folded, this.#pace) : undefined;
  }
}
