/** Longer parts are searched for with a table, which keeps the search linear for any part and text. */
const shortPart = 16;

/** Compiles a Pattern: each `*` stands for any run of characters, including an empty one; all else is literal. */
export function compilePattern(pattern: string): (text: string) => boolean {
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

/** Like `indexOf`, in time linear in the text and the part (Knuth, Morris, Pratt). */
function indexOfPart(text: string, part: string, from: number): number {
  if (part.length <= shortPart) return text.indexOf(part, from);
  const table = new Uint16Array(part.length);
  for (let at = 1, matched = 0; at < part.length; at++) {
    while (matched > 0 && part[matched] !== part[at]) matched = table[matched - 1]!;
    if (part[matched] === part[at]) matched++;
    table[at] = matched;
  }
  for (let at = from, matched = 0; at < text.length; at++) {
    while (matched > 0 && part[matched] !== text[at]) matched = table[matched - 1]!;
    if (part[matched] === text[at] && ++matched === part.length) return at - matched + 1;
  }
  return -1;
}
