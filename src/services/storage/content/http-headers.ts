/** Formats a time as HTTP headers do: `Fri, 20 Nov 2026 09:46:41 GMT`. */
export const httpDate = (time: string | Date) => new Date(time).toUTCString();

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const clock = '(?<time>\\d\\d:\\d\\d:\\d\\d)';
const formats = [
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${clock} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>[A-Z][a-z]{2})-(?<year>\\d\\d) ${clock} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \\d]\\d) ${clock} (?<year>\\d{4})$`),
];

/** Reads a time in any of the three formats of RFC 9110, section 5.6.7; undefined for anything else. */
export function parseHttpDate(text: string): Date | undefined {
  if (text.length > 64) return undefined;
  for (const format of formats) {
    const found = format.exec(text.trim())?.groups;
    if (found) return dateOf(found as Record<'day' | 'month' | 'year' | 'time', string>);
  }
  return undefined;
}

function dateOf({ day, month, year, time }: Record<'day' | 'month' | 'year' | 'time', string>) {
  const number = months.indexOf(month) + 1;
  const text = `${fullYear(year)}-${two(number)}-${two(Number(day))}T${time.replace(/:60$/, ':59')}Z`;
  const date = new Date(text);
  // `Date` turns 30 February into 2 March.
  const isDate = !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day);
  // There is no year 0, and the database refuses it.
  return isDate && date.getUTCFullYear() > 0 ? date : undefined;
}

const two = (number: number) => String(number).padStart(2, '0');

/** A year of two digits that seems to be more than 50 years ahead means the past, as the RFC demands. */
function fullYear(year: string): string {
  if (year.length === 4) return year;
  const now = new Date().getUTCFullYear();
  const full = now - (now % 100) + Number(year);
  return String(full > now + 50 ? full - 100 : full);
}

/**
 * Returns a `Content-Disposition` under which a browser saves content as `name` (RFC 6266): the name in UTF-8, and for old clients in
 * ASCII with `_` for what cannot be shown. No character of the name can end the header or its quotes.
 */
export function attachment(name: string): string {
  const plain = name.replace(/[^ !#$&'()+\-.0-9;=@A-Z[\]^_`a-z{}~,]/gu, '_');
  return plain === name
    ? `attachment; filename="${plain}"`
    : `attachment; filename="${plain}"; filename*=UTF-8''${percentEncoded(name.toWellFormed())}`;
}

/** Encodes as RFC 3986 does: `encodeURIComponent` leaves five characters that it reserves. */
export const percentEncoded = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
