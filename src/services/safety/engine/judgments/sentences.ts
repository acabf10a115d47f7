const ending = new Set([...'\n.!?。！？'].map((sign) => sign.charCodeAt(0)));

/** Sentences of a text, as parts of it. A line break ends a sentence too. */
export function* sentencesOf(text: string): Iterable<string> {
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (!ending.has(text.charCodeAt(at))) continue;
    const next = text[at + 1];
    if ('.!?'.includes(text[at]!) && next !== undefined && next !== ' ' && next !== '\n') continue;
    yield text.slice(start, at + 1);
    start = at + 1;
  }
  if (start < text.length) yield text.slice(start);
}
