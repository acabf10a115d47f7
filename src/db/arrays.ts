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
  const elements = values.map((value: unknown) => {
    if (value === undefined) throw new TypeError('an array for the database holds undefined');
    if (value === null) return 'NULL';
    return Array.isArray(value) ? arrayText(value, write) : `"${write(value).replace(/["\\]/g, '\\$&')}"`;
  });
  return `{${elements.join(',')}}`;
}
