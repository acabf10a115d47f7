/** Reads the content of a text according to `contentMediaType` and `contentEncoding`, as far as it is supported here. */
import type { Schema } from './document.ts';

type Content = Pick<Schema, 'contentMediaType' | 'contentEncoding'>;

/** Returns the value when the text is JSON, an empty object for other contents, and undefined when the text is malformed. */
export function readContent(
  { contentMediaType, contentEncoding }: Content,
  text: string,
): { readonly value?: unknown } | undefined {
  const decoded = decode(contentEncoding, text);
  if (decoded === undefined) return undefined;
  if (!isJson(contentMediaType) || (contentEncoding !== undefined && !(contentEncoding in alphabets)))
    return {};
  try {
    return { value: JSON.parse(decoded) as unknown };
  } catch {
    return undefined;
  }
}

/** Returns a text that contains the value. */
export function writeContent({ contentEncoding }: Content, value: unknown): string {
  const text = JSON.stringify(value);
  if (contentEncoding !== 'base64' && contentEncoding !== 'base64url') return text;
  return Buffer.from(text).toString(contentEncoding);
}

export const isJson = (type: string | undefined): boolean =>
  type !== undefined && /^application\/([^;]*\+)?json\s*(;|$)/i.test(type);

export const sayContent = ({ contentMediaType, contentEncoding }: Content): string =>
  [contentMediaType, contentEncoding && `in ${contentEncoding}`].filter(Boolean).join(' ');

const alphabets: Readonly<Record<string, RegExp>> = {
  base64: /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  base64url: /^[A-Za-z0-9_-]*={0,2}$/,
};

function decode(encoding: string | undefined, text: string): string | undefined {
  const alphabet = encoding === undefined ? undefined : alphabets[encoding];
  if (!alphabet) return text;
  return alphabet.test(text) ? Buffer.from(text, 'base64').toString('utf8') : undefined;
}
