import type { Pace } from '../pace.ts';
import { folded } from './folding.ts';
import type { Encoding, Reading } from './readings.ts';
import { rawStart } from './view.ts';

/** A part of the text that decodes to text. */
interface Segment {
  readonly start: number;
  end: number;
  readonly encoding: Encoding;
  text: string;
}

const fewestBase64 = 24;
const fewestHex = 32;
const fewestEscapes = 3;
/** Bytes that are written in pairs of digits, or as variation selectors. */
const fewestPairs = 12;
const fewestSelectors = 4;
const leastPrintable = 0.8;
/** The most characters between the parts of one segment. */
const widestGap = 2;
/** Characters after an escaped part that are read with it. */
const contextLength = 80;
const charactersPerStep = 4_096;
/** Characters from which on a word without spaces is decoded in parts. */
const longestPart = 4_096;

/** What a character of the text may be part of: bits. */
const inBase64 = 1;
const inHex = 2;
const lineBreak = 4;
const white = 8;
const escaping = 16;

const uses = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code);
  uses[code] =
    (/[A-Za-z0-9+/_=-]/.test(character) ? inBase64 : 0) |
    (/[0-9A-Fa-f]/.test(character) ? inHex : 0) |
    (/[\r\n]/.test(character) ? lineBreak : 0) |
    (/[\s"'<>]/.test(character) ? white : 0) |
    (/[%\\&]/.test(character) ? escaping : 0);
}
const useOf = (code: number) => (code < 128 ? uses[code]! : 0);

/** Longer texts are read in slices at once. */
const longestChecked = 16_384;
/** The first half of each tag and of most selectors: U+E0000 to U+E007F are DB40 DC00 to DC7F, U+E0100 to U+E01EF DB40 DD00 to DDEF. */
const halfOfTag = 0xdb40;
/** The first sixteen variation selectors. One of them stands behind many emoji. */
const isSelector = (code: number) => code >= 0xfe00 && code <= 0xfe0f;
const isHidden = (code: number) =>
  code === halfOfTag ||
  isSelector(code) ||
  (code >= 0xdc00 && code <= 0xdc7f) ||
  (code >= 0xdd00 && code <= 0xddef);

/** Bytes in pairs, which begin with a digit if they are ASCII: few texts need to be read for them. */
const pairs = /(?:0x)?[2-7][0-9a-f](?:[\s,:;-]{1,2}(?:0x)?[0-9a-f]{2}){11}/i;
const gapOfPairs = /^[\s,:;-]{1,2}(?:0x)?$/i;
const widestGapOfPairs = 4;

/** Whether a text may have encoded parts. Most have none, which is seen much faster than they are read. */
function hasTraces(text: string): boolean {
  for (let at = 0, run = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const use = useOf(code);
    if ((use & escaping) !== 0 || code === halfOfTag) return true;
    if (isSelector(code) && isSelector(text.charCodeAt(at + 1))) return true;
    run = (use & (inBase64 | lineBreak)) !== 0 ? run + 1 : 0;
    if (run >= fewestBase64) return true;
  }
  return pairs.test(text);
}

/** The parts of a text that are encoded, as one view of what they say; undefined when there are none. */
export async function decoded(text: string, pace: Pace): Promise<Reading | undefined> {
  if (text.length <= longestChecked && !hasTraces(text)) return undefined;
  const segments = new Segments(text);
  await pace.through(0, text.length, charactersPerStep, (from, to) => segments.read(from, to));
  segments.end();
  const { list } = segments;
  if (list.length === 0) return undefined;
  // Often only a part of the text is escaped, and only the whole makes sense.
  for (const segment of list)
    if (segment.encoding === 'escapes' || segment.encoding === 'percent')
      segment.text += text.slice(segment.end, segment.end + contextLength);
  const joined = list.map((segment) => segment.text).join('\n');
  const starts: number[] = [];
  for (let index = 0, at = 0; index < list.length; at += list[index++]!.text.length + 1) starts.push(at);
  const view = await folded(joined, pace);
  const segmentAt = (unit: number) => {
    const at = rawStart(view, unit);
    let index = lowerBound(starts, at + 1) - 1;
    if (index < 0) index = 0;
    return list[index]!;
  };
  return {
    view,
    encoding: 'base64',
    isBounded: true,
    spanOf: (start, end) => [segmentAt(start).start, segmentAt(end - 1).end],
    encodingAt: (start) => segmentAt(start).encoding,
  };
}

/** The index of the first of ascending numbers that is not less than a number. */
function lowerBound(numbers: readonly number[], number: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Finds the segments of a text in one pass. */
class Segments {
  readonly list: Segment[] = [];
  readonly #text: string;
  /** Where the current runs of characters begin; -1 when there is none. */
  #base64 = -1;
  #hex = -1;
  #tags = -1;
  /** The pairs of digits that follow one another. */
  readonly #pairs = { start: 0, end: 0, count: 0 };
  #word = 0;
  #percents = 0;
  #backslashes = 0;
  #entities = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(from: number, to: number): void {
    const text = this.#text;
    for (let at = from; at < to; at++) {
      const code = text.charCodeAt(at);
      const use = useOf(code);
      if ((use & inHex) === 0) this.#endHex(at);
      else if (this.#hex < 0) this.#hex = at;
      // Base64 may be divided into lines.
      if ((use & (inBase64 | lineBreak)) === 0) this.#endBase64(at);
      else if (this.#base64 < 0 && (use & inBase64) !== 0) this.#base64 = at;
      if ((use & white) !== 0) {
        this.#endWord(at);
        this.#word = at + 1;
      } else if ((use & escaping) !== 0) this.#escape(code, at);
      if (code === halfOfTag || isSelector(code)) {
        if (this.#tags < 0) this.#tags = at;
      } else if (this.#tags >= 0 && !isHidden(code)) this.#endTags(at);
    }
  }

  end(): void {
    const { length } = this.#text;
    this.#endHex(length);
    this.#endPairs();
    this.#endBase64(length);
    this.#endWord(length);
    if (this.#tags >= 0) this.#endTags(length);
  }

  /** Counts the sign of an escape. Long words are divided before one. */
  #escape(code: number, at: number): void {
    if (at - this.#word >= longestPart && !continuesCharacter(this.#text, at)) {
      this.#endWord(at);
      this.#word = at;
    }
    if (code === 0x25) this.#percents++;
    else if (code === 0x5c) this.#backslashes++;
    else this.#entities++;
  }

  #endTags(end: number): void {
    const start = this.#tags;
    this.#tags = -1;
    // Most are the one behind an emoji.
    if (end - start < 2) return;
    let hidden = '';
    const bytes: number[] = [];
    for (let at = start; at < end; at++) {
      const code = this.#text.charCodeAt(at);
      if (isSelector(code)) bytes.push(code - 0xfe00);
      else if (code >= 0xdd00 && code <= 0xddef) bytes.push(code - 0xdd00 + 16);
      else if (code > 0xdc1f && code < 0xdc7f) hidden += String.fromCharCode(code - 0xdc00);
    }
    if (hidden !== '') this.#push(start, end, 'tags', hidden);
    if (bytes.length >= fewestSelectors) this.#add(start, end, 'tags', Buffer.from(bytes));
  }

  #endHex(end: number): void {
    const start = this.#hex;
    this.#hex = -1;
    if (start < 0) return;
    if (end - start === 2) this.#addPair(start, end);
    else if (end - start >= fewestHex)
      this.#add(start, end, 'hex', Buffer.from(this.#text.slice(start, end), 'hex'));
  }

  #addPair(start: number, end: number): void {
    const last = this.#pairs;
    const gap = start - last.end;
    if (last.count > 0 && gap <= widestGapOfPairs && gapOfPairs.test(this.#text.slice(last.end, start))) {
      last.end = end;
      last.count++;
      return;
    }
    if (last.count > 0) this.#endPairs();
    // In words there are many, and none of them begins with a digit.
    const first = this.#text.charCodeAt(start);
    if (first >= 0x32 && first <= 0x37) Object.assign(last, { start, end, count: 1 });
  }

  #endPairs(): void {
    const { start, end, count } = this.#pairs;
    this.#pairs.count = 0;
    if (count < fewestPairs) return;
    const digits = this.#text.slice(start, end).replace(/0x|[^0-9a-f]/gi, '');
    this.#add(start, end, 'hex', Buffer.from(digits, 'hex'));
  }

  #endBase64(end: number): void {
    const start = this.#base64;
    this.#base64 = -1;
    if (start < 0 || end - start < fewestBase64) return;
    const run = this.#text.slice(start, end);
    if (this.#add(start, end, 'base64', Buffer.from(run, 'base64'))) return;
    // Other lines may have been taken for a part of the run.
    if (!/[\r\n]/.test(run)) return;
    let at = start;
    for (const line of run.split(/[\r\n]/)) {
      if (line.length >= fewestBase64) this.#add(at, at + line.length, 'base64', Buffer.from(line, 'base64'));
      at += line.length + 1;
    }
  }

  #endWord(end: number): void {
    const word = this.#word;
    // A part of a word that was divided counts with the part before.
    const fewest = this.list.at(-1)?.end === word ? 1 : fewestEscapes;
    if (this.#percents >= fewest) {
      const bytes = bytesOfPercents(this.#text.slice(word, end), fewest);
      if (bytes !== undefined) this.#add(word, end, 'percent', bytes);
    }
    if (this.#backslashes >= fewest || this.#entities >= fewest) {
      const run = this.#text.slice(word, end);
      const plain = run.replace(escapes, plainOf);
      if (plain !== run) this.#push(word, end, 'escapes', plain);
    }
    this.#percents = this.#backslashes = this.#entities = 0;
  }

  #add(start: number, end: number, encoding: Encoding, bytes: Buffer): boolean {
    const text = bytes.toString('utf8');
    const isText = isPrintable(text);
    if (isText) this.#push(start, end, encoding, text);
    return isText;
  }

  /** Words that are encoded one by one are one segment. */
  #push(start: number, end: number, encoding: Encoding, text: string): void {
    if (this.#pairs.count > 0 && start >= this.#pairs.end) this.#endPairs();
    const last = this.list.at(-1);
    if (last?.encoding === encoding && start - last.end <= widestGap) {
      last.text += start === last.end ? text : ` ${text}`;
      last.end = end;
    } else this.list.push({ start, end, encoding, text });
  }
}

/** Whether the escape at a position is a byte within a character of UTF-8. */
const continuesCharacter = (text: string, at: number) => /^%[89ABab]/.test(text.slice(at, at + 2));

/** Characters by their number, as in JavaScript and in HTML. */
const escapes = /\\u\{?([0-9A-Fa-f]{4,6})\}?|\\x([0-9A-Fa-f]{2})|&#(\d{1,7});|&#[xX]([0-9A-Fa-f]{1,6});/g;

function plainOf(escape: string, ...groups: (string | number | undefined)[]): string {
  const [long, short, decimal, hexadecimal] = groups as (string | undefined)[];
  const digits = long ?? short ?? hexadecimal;
  const point = digits === undefined ? Number(decimal) : Number.parseInt(digits, 16);
  return point <= 0x10ffff ? String.fromCodePoint(point) : escape;
}

/** The value of a hexadecimal digit; -1 for other bytes. */
const digitValue = new Int8Array(256).fill(-1);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  digitValue[digit.charCodeAt(0)] = value;
  digitValue[digit.toUpperCase().charCodeAt(0)] = value;
}

function bytesOfPercents(text: string, fewest: number): Buffer | undefined {
  let count = 0;
  const bytes = Buffer.from(text, 'utf8');
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const high = bytes[at] === 0x25 ? digitValue[bytes[at + 1] ?? 0]! : -1;
    const low = high < 0 ? -1 : digitValue[bytes[at + 2] ?? 0]!;
    if (low < 0) bytes[length++] = bytes[at]! === 0x2b ? 0x20 : bytes[at]!;
    else {
      bytes[length++] = high * 16 + low;
      at += 2;
      count++;
    }
  }
  return count >= fewest ? bytes.subarray(0, length) : undefined;
}

/** Whether most characters can be read, so that the bytes were text. */
function isPrintable(text: string): boolean {
  let printable = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code !== 0xfffd) || (code >= 9 && code <= 13))
      printable++;
  }
  return text.length > 0 && printable >= leastPrintable * text.length;
}
