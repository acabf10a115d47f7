/** Characters with which spreadsheets begin a formula; the last two are full-width forms that some of them accept. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

/** Negative and signed numbers begin like formulas but compute nothing. */
const number = /^[+-]?\d+([.,]\d+)*([eE][+-]?\d+)?%?$/;

/**
 * Encodes a value as a field of CSV (RFC 4180). Null and undefined become an empty field. Text that a spreadsheet would run as a
 * formula gets an apostrophe in front, which makes the spreadsheet show it as text: whoever may choose a name must not be able to
 * run commands in the spreadsheet of its reader.
 */
export function csvField(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = formula.test(value) && !number.test(value) ? `'${value}` : value;
  return /[",\r\n;\t']/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Encodes a record: its fields between commas, and the line break that ends it. */
export const csvLine = (values: readonly Parameters<typeof csvField>[0][]): string =>
  `${values.map(csvField).join(',')}\r\n`;
