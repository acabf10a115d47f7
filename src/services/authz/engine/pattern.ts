import { Invalid } from '../../../lib/errors.ts';

const mostCharacters = 256;
const mostStars = 4;
/** Longer parts are searched for with a table, which keeps the search linear for any part and text. */
const shortPart = 16;

/** Whether a Pattern covers a text. */
export type Matcher = (text: string) => boolean;

/** Compiles a Pattern: each `*` stands for any run of characters, including an empty one; everything else is literal. */
export function compilePattern(pattern: string): Matcher {
  if (pattern === '*') return () => true;
  if (!pattern.includes('*')) return (text) => text === pattern;
  const parts = pattern.split('*');
  const first = parts[0]!;
  const last = parts.at(-1)!;
  const between = parts.slice(1, -1).filter((part) => part !== '');
  const least = parts.reduce((sum, part) => sum + part.length, 0);
  return (text) => {
    if (text.length < least || !text.startsWith(first) || !text.endsWith(last)) return false;
    const end = text.length - last.length;
    let at = first.length;
    for (const part of between) {
      const found = indexOfPart(text, part, at);
      if (found < 0 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

/** Whether a Pattern covers a text. For occasional use, where compiling the pattern would not pay off. */
export const matches = (pattern: string, text: string): boolean => compilePattern(pattern)(text);

/** Like `indexOf`, in time linear in the text and the part. */
export function indexOfPart(text: string, part: string, from: number): number {
  if (part.length <= shortPart) return text.indexOf(part, from);
  const { head, tail, table } = partOf(part);
  if (text.indexOf(head, from) < 0 || text.indexOf(tail, from) < 0) return -1;
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = table[matched - 1]!;
    if (part.charCodeAt(matched) === code && ++matched === part.length) return at - matched + 1;
  }
  return -1;
}

/** The search data of a long part. */
interface Part {
  /** The beginning and end of the part. A text that lacks one of them lacks the part too, and that is much faster to find out. */
  readonly head: string;
  readonly tail: string;
  /** For each prefix of the part, the length of its longest proper suffix that is also a prefix (Knuth, Morris, Pratt). */
  readonly table: Uint16Array;
}

const parts = new Map<string, Part>();

function partOf(part: string): Part {
  const known = parts.get(part);
  if (known !== undefined) return known;
  const table = new Uint16Array(part.length);
  let matched = 0;
  for (let at = 1; at < part.length; at++) {
    const code = part.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = table[matched - 1]!;
    if (part.charCodeAt(matched) === code) matched++;
    table[at] = matched;
  }
  // Entries can be rebuilt, so clearing the map only bounds its size.
  if (parts.size >= 20_000) parts.clear();
  const made = { head: part.slice(0, shortPart), tail: part.slice(-shortPart), table };
  parts.set(part, made);
  return made;
}

/** Checks that a text is a Pattern (1-256 characters, at most 4 `*`). @throws Invalid('<field>: …') */
export function checkPattern(text: string, field: string): void {
  if (text === '') throw Invalid(`${field}: empty`);
  if (text.length > mostCharacters) throw Invalid(`${field}: longer than ${mostCharacters}`);
  if (text.split('*').length - 1 > mostStars) throw Invalid(`${field}: more than ${mostStars} *`);
}
