/** A text on a page, from left to right. */
export interface ShownText {
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

/** Reads a PDF file without compression the slow way: by its table of objects, its pages and the characters that its fonts name. */
export class PdfReader {
  readonly #objects: readonly string[];

  constructor(file: Uint8Array) {
    const text = Buffer.from(file).toString('latin1');
    this.#objects = objectsOf(text);
  }

  /** The texts of each page, in the order in which they are drawn. */
  get pages(): ShownText[][] {
    return this.#objects
      .filter((object) => /\/Type \/Page\n/.test(object))
      .map((page) => this.#textsOf(page));
  }

  /** The lines of each page, whose words follow one another as they are seen. */
  get lines(): string[][] {
    return this.pages.map((texts) => {
      const rows = Map.groupBy(texts, ({ y }) => y.toFixed(1));
      return [...rows.values()].map((row) =>
        [...row]
          .sort((a, b) => a.x - b.x)
          .map(({ text }) => text)
          .join(' ')
          .replaceAll(/ +/g, ' '),
      );
    });
  }

  /** All of it, line by line. */
  get text(): string {
    return this.lines.flat().join('\n');
  }

  get count(): number {
    return this.#objects.length;
  }

  #textsOf(page: string): ShownText[] {
    const fonts = this.#fontsOf(this.#referred(page, 'Resources'));
    const content = this.#referred(page, 'Contents');
    return [...content.matchAll(/^BT\n(.*?)^ET$/gms)].map(([, block = '']) => {
      const [, x, y] = /^1 0 0 1 (\S+) (\S+) Tm/m.exec(block)!;
      const glyphs = fonts.get(/^\/(F\d+) /m.exec(block)![1]!)!;
      const codes = [...block.matchAll(/<([0-9a-f]+)>/g)].flatMap(([, hex = '']) => hex.match(/.{4}/g)!);
      return {
        x: Number(x),
        y: Number(y),
        text: codes.map((code) => glyphs[Number.parseInt(code, 16)]!).join(''),
      };
    });
  }

  #fontsOf(resources: string): Map<string, string[]> {
    const named = [...resources.matchAll(/\/(F\d+) (\d+) 0 R/g)];
    return new Map(
      named.map(([, name, id]) => [name!, glyphsOf(this.#referred(this.#objects[Number(id)]!, 'ToUnicode'))]),
    );
  }

  #referred(object: string, key: string): string {
    return this.#objects[Number(new RegExp(`/${key} (\\d+) 0 R`).exec(object)![1])]!;
  }
}

/** The objects by their ids, found by the table at the end of the file. */
function objectsOf(file: string): string[] {
  const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(file)![1]);
  const offsets = [...file.slice(start).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, offset]) =>
    Number(offset),
  );
  const ends = [...offsets, start].sort((a, b) => a - b);
  return offsets.reduce<string[]>((objects, offset, at) => {
    const object = file.slice(offset, ends[ends.indexOf(offset) + 1]);
    if (!object.startsWith(`${at + 1} 0 obj\n`) || !object.endsWith('endobj\n'))
      throw new Error(`object ${at + 1} is not where the table says`);
    objects[at + 1] = object;
    return objects;
  }, []);
}

/** What each glyph of a font stands for. */
const glyphsOf = (map: string): string[] =>
  [...map.matchAll(/\[(.*)\]/g)].flatMap(([, row = '']) =>
    [...row.matchAll(/<([0-9a-f ]*)>/g)].map(([, units = '']) =>
      String.fromCharCode(...units.split(' ').map((unit) => Number.parseInt(unit, 16))),
    ),
  );
