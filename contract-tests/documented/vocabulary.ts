/** The resources of one service, from the document's tables of fields, as what requests and answers name. */
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
  // What stands behind is said of one use of the resource only.
  const [text = '', result] = fields.split(/; (?:result|response) |; on the upstreams list/);
  texts.set(custom === undefined ? key.replace(/ \(.*/, '') : `custom ${custom}`, text);
  if (result !== undefined && result.startsWith('`')) texts.set(`${key} result`, result);
}

/** A table of one resource has a row a field: its first column is called `Scan result field`. */
function addColumn(texts: Map<string, string>, table: readonly Readonly<Record<string, string>>[]): void {
  const head = Object.keys(table[0] ?? {})[0] ?? '';
  if (head.endsWith(' field')) {
    const names = table.map((row) => row[head] ?? '');
    texts.set(head.replace(/ field$/, '').toLowerCase(), names.join(', '));
  }
}

/** The fields of a resource that a text begins with: `array of Scan results, current tenant`, `User`, `new job`. */
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
