import { setImmediate as nextTurn } from 'node:timers/promises';
import { SaxesParser } from 'saxes';
import { s3Error } from './errors.ts';

/** An element of a request. Attributes and the prefixes of namespaces mean nothing in the requests of S3. */
export interface Element {
  readonly name: string;
  text: string;
  readonly children: Element[];
}

const deepest = 8;
const mostElements = 100_000;
/** The parser gathers all attributes of an element before it passes the element on. */
const mostAttributes = 16;
/** The most characters of one text; the longest are keys, of 1,024 bytes. */
const longestText = 4096;
/** The bytes that are parsed in one turn of the event loop, which takes a few milliseconds. */
const bytesPerTurn = 16 * 1024;

/**
 * Reads a document whose root has this name. Document types are refused, so that there are no entities to expand, and the work is
 * divided into turns, so that a long document holds nobody up. Throws `MalformedXML`.
 */
export async function readXml(bytes: Buffer, root: string): Promise<Element> {
  const reader = new Reader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for (let at = 0; at < bytes.length; at += bytesPerTurn) {
      if (at > 0) await nextTurn();
      reader.write(decoder.decode(bytes.subarray(at, at + bytesPerTurn), { stream: true }));
    }
    reader.write(decoder.decode());
    const found = reader.end();
    if (found?.name !== root) throw s3Error('MalformedXML', `The body must be a document ${root}`);
    return found;
  } catch (cause) {
    throw s3Error('MalformedXML', undefined, { cause });
  }
}

class Reader {
  readonly #parser = new SaxesParser();
  readonly #open: Element[] = [];
  #count = 0;
  #attributes = 0;
  #root: Element | undefined;

  constructor() {
    const refuse = (problem: string) => {
      throw new Error(problem);
    };
    this.#parser.on('error', (error) => {
      throw error;
    });
    this.#parser.on('doctype', () => refuse('a document type'));
    this.#parser.on(
      'attribute',
      () => void (++this.#attributes > mostAttributes && refuse('too many attributes')),
    );
    this.#parser.on('opentag', ({ name }) => this.#begin(name));
    this.#parser.on('text', (text) => this.#add(text));
    this.#parser.on('cdata', (text) => this.#add(text));
    this.#parser.on('closetag', () => void this.#open.pop());
  }

  write(text: string): void {
    this.#parser.write(text);
  }

  end(): Element | undefined {
    this.#parser.close();
    return this.#root;
  }

  #begin(prefixed: string): void {
    this.#attributes = 0;
    const element: Element = { name: prefixed.slice(prefixed.indexOf(':') + 1), text: '', children: [] };
    if (++this.#count > mostElements || this.#open.length === deepest) throw new Error('too many elements');
    const parent = this.#open.at(-1);
    if (parent) parent.children.push(element);
    else this.#root ??= element;
    this.#open.push(element);
  }

  #add(text: string): void {
    const element = this.#open.at(-1);
    if (!element) return;
    element.text += text;
    if (element.text.length > longestText) throw new Error('a text is too long');
  }
}

/** The text of a child; undefined when there is none. Throws `MalformedXML` when there are several. */
export function textOf(element: Element, name: string): string | undefined {
  const found = element.children.filter((child) => child.name === name);
  if (found.length > 1) throw s3Error('MalformedXML', `${name} is given more than once`);
  return found[0]?.text;
}

export const childrenOf = (element: Element, name: string): readonly Element[] =>
  element.children.filter((child) => child.name === name);
