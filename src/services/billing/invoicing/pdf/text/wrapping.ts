/** The width of a text in points. */
export type WidthOf = (text: string) => number;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const ellipsis = '…';

/** Breaks a printable text into lines that are not wider than `width`: at blanks, and inside a word only if it fills a line by itself. */
export function wrapped(text: string, width: number, widthOf: WidthOf): string[] {
  // Most texts fit, and measuring them word by word takes as long again.
  if (text !== '' && widthOf(text) <= width) return [text];
  const blank = widthOf(' ');
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of text.split(' ').flatMap((word) => cut(word, width, widthOf))) {
    const wide = widthOf(word);
    if (line !== '' && used + blank + wide <= width) {
      line += ` ${word}`;
      used += blank + wide;
      continue;
    }
    if (line !== '') lines.push(line);
    [line, used] = [word, wide];
  }
  if (line !== '') lines.push(line);
  return lines;
}

/** The same with at most `most` lines. The last one shows that something is missing. */
export function clamped(text: string, width: number, most: number, widthOf: WidthOf): string[] {
  const lines = wrapped(text, width, widthOf);
  if (lines.length <= most) return lines;
  const last = [...graphemes.segment(lines[most - 1]!)].map(({ segment }) => segment);
  while (last.length > 0 && widthOf(last.join('') + ellipsis) > width) last.pop();
  return [...lines.slice(0, most - 1), last.join('').trimEnd() + ellipsis];
}

/** A word in parts that fit. Each has at least one character, however wide that is. */
function cut(word: string, width: number, widthOf: WidthOf): string[] {
  if (widthOf(word) <= width) return word === '' ? [] : [word];
  const parts: string[] = [];
  let part = '';
  let used = 0;
  for (const { segment } of graphemes.segment(word)) {
    const wide = widthOf(segment);
    if (part !== '' && used + wide > width) {
      parts.push(part);
      [part, used] = ['', 0];
    }
    part += segment;
    used += wide;
  }
  return [...parts, part];
}
