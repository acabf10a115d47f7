/** What differs from run to run is compared by its form: ids, secrets, hashes, times, revisions and request ids. */
const forms: readonly [RegExp, string][] = [
  [/\b([a-z]+)_[0-9a-hjkmnp-tv-z]{26}\b/g, '$1_…'],
  [/\b(sk|pst|prt|pk|sec|whsec)_[\w+/]{20,}=*/g, '$1_…'],
  [/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g, 'time'],
  [/\b[0-9a-f]{64}\b/g, 'hash'],
  [/(?<=X-Next-Cursor: )\S+/g, 'cursor'],
  [/(?<=")\d+(\.\d+)?m?s(?=")/g, 'duration'],
  [/(?<="revision":\s*)\d+/g, '0'],
  [/(?<="request_id":\s*")[\w-]+/g, 'request'],
];

/** A text of which only the forms of such values count. */
export const textForm = (text: string): string =>
  forms.reduce((shown, [form, name]) => shown.replaceAll(form, name), text);

/** The same for JSON, whose spaces do not count either. */
export const jsonForm = (text: string): unknown => JSON.parse(textForm(text));
