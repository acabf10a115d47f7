/** What differs from run to run is compared by its form: ids, secrets, hashes, times, revisions and request ids. */
const forms: readonly [RegExp, string][] = [
  [/\b([a-z]+)_[0-9a-hjkmnp-tv-z]{26}\b/g, '$1_…'],
  [/\b(sk|pst|prt|pk|sec|whsec)_[\w+/]{20,}=*/g, '$1_…'],
  [/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g, 'time'],
  [/\b[0-9a-f]{64}\b/g, 'hash'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'token'],
  [/(?<=")\d+(\.\d+)?m?s(?=")/g, 'duration'],
  [/(?<="revision":\s*)\d+/g, '0'],
  [/(?<="request_id":\s*")[\w-]+/g, 'request'],
];

const formOf = (text: string): string =>
  forms.reduce((shown, [form, name]) => shown.replaceAll(form, name), text);

/** A text of which only the forms of such values count. */
export const textForm = formOf;

/** The same for JSON, whose spaces do not count either. */
export const jsonForm = (text: string): unknown => JSON.parse(formOf(text));
