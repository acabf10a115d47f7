/** The resources of one service as requests and answers name them, from the document's tables of fields. */
import { readFields, singular, type Field, type Vocabulary } from './fields.ts';
import type { Section } from './markdown.ts';
import type { Reading } from './readings.ts';

export function vocabularyOf(reading: Reading, sections: readonly Section[]): Vocabulary {
  const texts = new Map<string, string>();
  for (const { text, tables } of sections) {
    for (const row of tables.flat()) {
      const { Resource: name, Fields: fields } = row;
      if (name !== undefined && fields !== undefined) add(texts, name, fields);
    }
    for (const table of tables) addColumn(texts, table);
    for (const [, name = '', fields = ''] of text.matchAll(/^([A-Z][\w ]+): (`.*)$/gm))
      add(texts, name, fields);
  }
  const vocabulary: Vocabulary = {
    resource: (name) => {
      const text = texts.get(reading.synonyms?.[name] ?? name);
      return text === undefined ? undefined : readFields(text, vocabulary);
    },
    objects: reading.objects ?? [],
    members: reading.members ?? {},
  };
  return vocabulary;
}

function add(texts: Map<string, string>, name: string, fields: string): void {
  const key = name.toLowerCase().replace(/ object$/, '');
  const custom = /^(.*) \(custom\)$/.exec(key)?.[1];
  // The text after it applies to only one use of the resource.
  const [text = '', result] = fields.split(/; (?:result|response) |; on the upstreams list/);
  texts.set(custom === undefined ? key.replace(/ \(.*/, '') : `custom ${custom}`, text);
  if (result !== undefined && result.startsWith('`')) texts.set(`${key} result`, result);
}

/** Adds the fields of a table for one resource, which has one row per field. Its first column has a heading such as `Scan result field`. */
function addColumn(texts: Map<string, string>, table: readonly Readonly<Record<string, string>>[]): void {
  const head = Object.keys(table[0] ?? {})[0] ?? '';
  if (head.endsWith(' field')) {
    const names = table.map((row) => row[head] ?? '');
    texts.set(head.replace(/ field$/, '').toLowerCase(), names.join(', '));
  }
}

/** Returns the fields of the resource with which a text begins: `array of Scan results, current tenant`, `User`, `new job`. */
export function resourceIn(text: string, vocabulary: Vocabulary): readonly Field[] | undefined {
  const name = text
    .replaceAll(/\([^)]*\)/g, '')
    .trim()
    .replace(/^(paginated |array of |merged |new |full )+/i, '')
    .replace(/(,| with ).*$/, '')
    .trim()
    .toLowerCase();
  return vocabulary.resource(name) ?? vocabulary.resource(singular(name));
}
