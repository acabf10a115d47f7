/** A node of a document: text is escaped where it is written. */
export interface Xml {
  readonly markup: string;
}

type Child = Xml | undefined | readonly Child[];

/**
 * An element with children, or with text. An element whose text is undefined is left out.
 * @param attributes markup, which is not escaped
 */
export function element(
  name: string,
  content: Child | string | number | boolean | undefined,
  attributes = '',
): Xml | undefined {
  if (content === undefined) return undefined;
  const inner = typeof content === 'object' ? markupOf(content) : escaped(String(content));
  return { markup: `<${name}${attributes}>${inner}</${name}>` };
}

/** An element of each of the named texts. */
export const elements = (texts: Readonly<Record<string, string | number | boolean | undefined>>): Child =>
  Object.entries(texts).map(([name, text]) => element(name, text));

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** A whole document in S3's namespace. */
export const document = (name: string, content: Child): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="${namespace}">${markupOf(content)}</${name}>`;

/** The document of an error, which has no namespace. */
export const errorDocument = (content: Child): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${markupOf(content)}</Error>`;

function markupOf(child: Child): string {
  if (child === undefined) return '';
  if ('markup' in child) return child.markup;
  return child.map(markupOf).join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Characters that XML cannot hold, not even escaped. */
const impossible = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

const escaped = (text: string): string =>
  text
    .replace(/[&<>"']/g, (letter) => entities[letter]!)
    .replace(/[\t\n\r]/g, (letter) => `&#${letter.charCodeAt(0)};`)
    .replace(impossible, '\ufffd');
