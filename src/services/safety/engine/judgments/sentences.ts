/** Sentences of a text, as parts of it. A line break ends a sentence too. */
export function* sentencesOf(text: string): Iterable<string> {
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    const next = text[at + 1];
    const ends =
      sign === '\n' ||
      '。！？'.includes(sign) ||
      ('.!?'.includes(sign) && (next === undefined || next === ' ' || next === '\n'));
    if (!ends) continue;
    yield text.slice(start, at + 1);
    start = at + 1;
  }
  if (start < text.length) yield text.slice(start);
}
