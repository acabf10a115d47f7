/**
 * The text as the recognisers read it: full-width characters, digits of other scripts, and typographic spaces and hyphens are
 * their ASCII counterparts, and invisible characters are gone. Otherwise `４１１１…`, or a soft hyphen inside a number, would hide it.
 */
export interface PlainText {
  readonly text: string;
  /** The offset in the original of each offset of `text`; undefined when they are equal. */
  readonly offsets: Int32Array | undefined;
}

/** The zero of each block of ten decimal digits in the Basic Multilingual Plane. */
const zeros = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
  0xf20, 0x1040, 0x17e0, 0x1810,
];
const spaces = [0xa0, 0x1680, 0x202f, 0x205f, 0x2800, 0x3000, ...range(0x2000, 0x200a)];
const hyphens = [...range(0x2010, 0x2015), 0x2212, 0xfe58, 0xfe63];
const invisible = [
  0xad,
  0x34f,
  0x61c,
  0x115f,
  0x1160,
  0x17b4,
  0x17b5,
  ...range(0x180b, 0x180f),
  ...range(0x200b, 0x200f),
  ...range(0x202a, 0x202e),
  ...range(0x2060, 0x206f),
  0x3164,
  ...range(0xfe00, 0xfe0f),
  0xfeff,
  0xffa0,
  ...range(0xfff9, 0xfffb),
];

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, nth) => first + nth);
}

/** What each unit becomes; 0 for those that vanish. */
const becomes = new Uint16Array(0x10000).map((_, unit) => unit);
for (const zero of zeros) for (let value = 0; value < 10; value++) becomes[zero + value] = 0x30 + value;
for (const unit of spaces) becomes[unit] = 0x20;
for (const unit of hyphens) becomes[unit] = 0x2d;
for (let unit = 0xff01; unit <= 0xff5e; unit++) becomes[unit] = unit - 0xfee0;
becomes[0xfe6b] = 0x40;
for (const unit of invisible) becomes[unit] = 0;

/** ASCII and Latin-1 letters are what most texts consist of, and all of them stay. */
const perhapsChanged = /[\u00a0\u00ad\u034f-\uffff]/;

export function plainText(text: string): PlainText {
  if (!perhapsChanged.test(text)) return { text, offsets: undefined };
  const units = new Uint16Array(text.length);
  let length = 0;
  let changed = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const plain = becomes[unit]!;
    if (plain !== unit) changed = true;
    // U+0000 itself stays: only an invisible character vanishes.
    if (plain !== 0 || unit === 0) units[length++] = plain;
  }
  if (!changed) return { text, offsets: undefined };
  const plain = Buffer.from(units.buffer, 0, length * 2).toString('utf16le');
  return { text: plain, offsets: length === text.length ? undefined : offsetsOf(text, length) };
}

function offsetsOf(text: string, length: number): Int32Array {
  const offsets = new Int32Array(length + 1);
  let to = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (becomes[unit] !== 0 || unit === 0) offsets[to++] = at;
  }
  offsets[to] = text.length;
  return offsets;
}

/** The span in the original of a span that is not empty: up to its last character, without what vanished behind it. */
export function originalSpan(
  { offsets }: PlainText,
  start: number,
  end: number,
): [start: number, end: number] {
  return offsets === undefined ? [start, end] : [offsets[start]!, offsets[end - 1]! + 1];
}
