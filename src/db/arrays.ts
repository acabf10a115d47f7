/** Parses an array in PostgreSQL's text format, `{1,NULL,"a b"}`; `parse` parses one element. */
export function parseArray(text: string, parse: (element: string) => unknown): unknown[] {
  let at = 0;

  function list(): unknown[] {
    const values: unknown[] = [];
    for (at++; text[at] !== '}'; text[at] === ',' && at++) values.push(element());
    at++;
    return values;
  }

  function element(): unknown {
    if (text[at] === '{') return list();
    if (text[at] === '"') return parse(quoted());
    const begin = at;
    while (text[at] !== ',' && text[at] !== '}') at++;
    const word = text.slice(begin, at);
    return word === 'NULL' ? null : parse(word);
  }

  function quoted(): string {
    let value = '';
    for (at++; text[at] !== '"'; at++) {
      if (text[at] === '\\') at++;
      value += text[at]!;
    }
    at++;
    return value;
  }

  return list();
}

/** Writes an array in PostgreSQL's text format; `write` writes one element. A value that is not an array counts as such a text. */
export function arrayText(values: unknown, write: (element: unknown) => string): string {
  if (!Array.isArray(values)) return String(values);
  let text = '{';
  for (const value of values as readonly unknown[]) {
    if (value === undefined) throw new TypeError('an array for the database holds undefined');
    if (text.length > 1) text += ',';
    if (value === null) text += 'NULL';
    else if (Array.isArray(value)) text += arrayText(value, write);
    else text += elementText(write(value));
  }
  return `${text}}`;
}

/** Most elements have nothing to escape, and looking for it is much faster than replacing it. */
const elementText = (text: string): string =>
  text.includes('"') || text.includes('\\') ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
