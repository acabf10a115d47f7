import type { Pace } from '../pace.ts';
import { space } from './folding.ts';
import { kindOf, letters } from './letters.ts';
import { reading, type Reading } from './readings.ts';
import { ViewBuilder, type View } from './view.ts';

const unitsPerStep = 8_192;
const longestTag = 256;
const longestComment = 1_024;
/** The tags that may follow one another within a word. */
const mostTags = 8;

const tag = /^<\/?([a-z][a-z0-9-]{0,31})(?:[\s/][^<>]*)?>/i;
/** Elements that end a word where they begin and end. */
const blocks = new Set(
  'address article aside blockquote body br button caption dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html iframe img input legend li main nav ol optgroup option p pre script section select style summary table tbody td textarea tfoot th thead title tr ul video'.split(
    ' ',
  ),
);
/** Emphasis that begins or ends inside a word, of which code and names have a part only. */
const emphasis =
  /(?<=\p{L})(\*{1,3}|~~|__)\p{L}{1,20}\1|(\*{1,3}|~~|__)\p{L}{1,20}\2(?=\p{L})|(?<=\p{L})`\p{L}{1,20}`(?=\p{L})/u;
const around = 28;
/** Invisible characters by their names in HTML. */
const invisible = /^&(?:shy|zwn?j|NoBreak|ZeroWidthSpace);/;

/** Where markup that begins here ends, and whether it ends a word; undefined for anything else. */
function markupAt(text: string, at: number): { end: number; isBlock: boolean } | undefined {
  const unit = text.charCodeAt(at);
  if (unit === 0x3c) {
    if (text.startsWith('<!--', at)) {
      const end = text.slice(at, at + longestComment).indexOf('-->');
      return end < 0 ? undefined : { end: at + end + 3, isBlock: false };
    }
    const match = tag.exec(text.slice(at, at + longestTag));
    return match === null
      ? undefined
      : { end: at + match[0].length, isBlock: blocks.has(match[1]!.toLowerCase()) };
  }
  if (unit === 0x2a || unit === 0x60) return { end: at + 1, isBlock: false };
  if ((unit === 0x7e || unit === 0x5f) && text.charCodeAt(at + 1) === unit)
    return { end: at + 2, isBlock: false };
  const name = unit === 0x26 ? invisible.exec(text.slice(at, at + 24)) : null;
  return name === null ? undefined : { end: at + name[0].length, isBlock: false };
}

const isLetter = (text: string, at: number): boolean =>
  (kindOf(text.charCodeAt(at) || space) & letters) !== 0;

/** With what markup begins. */
const signs = ['<', '*', '`', '__', '~~', '&'];

/** Whether markup that begins here stands between two letters. Few texts have any, and only those are read again. */
function isInWord(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit !== 0x3c && unit !== 0x26) {
    let end = at + 1;
    while (end - at < 3 && text.charCodeAt(end) === unit) end++;
    return isLetter(text, end) && emphasis.test(text.slice(Math.max(0, at - around), end + around));
  }
  let end = at;
  for (let tags = 0; tags < mostTags; tags++) {
    const markup = markupAt(text, end);
    if (markup === undefined || markup.isBlock) break;
    end = markup.end;
    if (isLetter(text, end)) return true;
  }
  return false;
}

async function hasMarkupInWord(text: string, pace: Pace): Promise<boolean> {
  let count = 0;
  for (const sign of signs)
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
      if (++count % 256 === 0 && pace.isDue) await pace.rest();
      if (isLetter(text, at - 1) && isInWord(text, at)) return true;
    }
  return false;
}

/**
 * The text without the tags and the emphasis that HTML and Markdown do not show, `ig<b>no</b>re`; undefined when there is none
 * inside a word.
 */
export async function withoutMarkup(text: string, folded: View, pace: Pace): Promise<Reading | undefined> {
  if (!(await hasMarkupInWord(text, pace))) return undefined;
  const { codes, offsets } = folded;
  const builder = new ViewBuilder(codes.length);
  let hiddenUntil = 0;
  await pace.through(0, codes.length, unitsPerStep, (from, to) => {
    for (let at = from; at < to; at++) {
      const offset = offsets?.[at] ?? at;
      if (offset < hiddenUntil) continue;
      const markup = markupAt(text, offset);
      if (markup !== undefined) hiddenUntil = markup.end;
      if (markup === undefined) builder.add(codes[at]!, offset);
      else if (markup.isBlock && builder.length > 0) builder.add(space, offset);
    }
  });
  return reading(builder.build(text.length), 'markup');
}
