import { inflateSync } from 'node:zlib';

/** The bytes of a file header and of one entry of its table directory, in WOFF and in the plain font format. */
const sizes = { woffHeader: 44, woffEntry: 20, header: 12, entry: 16 };

/** No font file unpacks to more; a damaged length would otherwise ask for any amount of memory. */
const mostBytes = 64 * 1024 * 1024;

interface Table {
  readonly tag: Buffer;
  readonly checksum: number;
  readonly content: Buffer;
}

/** Whether a file is a font in the format WOFF 1. */
export const isWoff = (file: Buffer): boolean => file.toString('latin1', 0, 4) === 'wOFF';

/**
 * Unpacks a font in the format WOFF 1. The library for fonts reads that format, too, but unpacks a table again for every glyph.
 * @throws an error if the file is damaged
 */
export function unpacked(file: Buffer): Buffer {
  const tables = Array.from({ length: file.readUInt16BE(12) }, (_, at) => tableAt(file, at));
  return fontOf(file.readUInt32BE(4), tables);
}

function tableAt(file: Buffer, index: number): Table {
  const entry = sizes.woffHeader + sizes.woffEntry * index;
  const [offset, packed, length] = [4, 8, 12].map((at) => file.readUInt32BE(entry + at)) as [
    number,
    number,
    number,
  ];
  if (length > mostBytes || offset + packed > file.length) throw new RangeError('the font file is damaged');
  const stored = file.subarray(offset, offset + packed);
  return {
    tag: file.subarray(entry, entry + 4),
    checksum: file.readUInt32BE(entry + 16),
    content: packed === length ? stored : inflateSync(stored, { maxOutputLength: length }),
  };
}

function fontOf(flavor: number, tables: readonly Table[]): Buffer {
  const places = placesOf(tables);
  const font = Buffer.alloc(places.at(-1) ?? 0);
  font.writeUInt32BE(flavor, 0);
  font.writeUInt16BE(tables.length, 4);
  for (const [index, { tag, checksum, content }] of tables.entries()) {
    const entry = sizes.header + sizes.entry * index;
    const place = places[index]!;
    tag.copy(font, entry);
    font.writeUInt32BE(checksum, entry + 4);
    font.writeUInt32BE(place, entry + 8);
    font.writeUInt32BE(content.length, entry + 12);
    content.copy(font, place);
  }
  return font;
}

/** Where each table begins, and last where the file ends. Tables begin at multiples of four bytes. */
function placesOf(tables: readonly Table[]): number[] {
  const places = [sizes.header + sizes.entry * tables.length];
  for (const { content } of tables) places.push(places.at(-1)! + ((content.length + 3) & ~3));
  return places;
}
