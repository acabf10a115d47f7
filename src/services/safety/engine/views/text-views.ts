import type { Pace } from '../pace.ts';
import { decoded } from './decoding.ts';
import { reversed, rotated, spelledOut, unleeted } from './disguises.ts';
import { Folder, type Folded } from './folding.ts';
import { reading, type Reading } from './readings.ts';

const charactersPerStep = 4_096;

/** The views of one text, each made when it is first needed. */
export class TextViews {
  readonly text: string;
  readonly folded: Folded;
  readonly plain: Reading;
  readonly #pace: Pace;
  #leet: Promise<Reading | undefined> | undefined;

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
  leet(): Promise<Reading | undefined> {
    return (this.#leet ??= unleeted(this.folded, this.#pace));
  }

  /** The other forms in which an attack may be hidden. */
  async disguises(): Promise<Reading[]> {
    const found = [
      await this.leet(),
      await spelledOut(this.folded, this.#pace),
      await decoded(this.text, this.#pace),
    ];
    return found.filter((candidate) => candidate !== undefined);
  }

  reversed = (): Reading => reversed(this.folded);

  rotated = (): Reading => rotated(this.folded);
}
