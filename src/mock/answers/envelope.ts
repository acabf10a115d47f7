import { exampleOf, resolve, type Document, type Schema } from '../contract/document.ts';

/**
 * Builds the documented failure bodies of one service: the example for the status, with the message replaced. A status that the
 * document does not name (404 for a path, 405) uses the form of another status.
 */
export function envelopes(document: Document): (status: number, message: string) => unknown {
  const examples = new Map<number, unknown>();
  const words = new Map<number, string>();
  for (const item of Object.values(document.paths)) {
    for (const { responses } of Object.values(item)) {
      for (const [status, { content }] of Object.entries(responses)) {
        const schema = content?.['application/json']?.schema;
        if (Number(status) < 400 || !schema) continue;
        examples.set(Number(status), exampleOf(document, schema));
        words.set(Number(status), firstWords(document, schema));
      }
    }
  }
  return (status, message) => {
    const known = examples.has(status) ? status : 400;
    const start = words.get(known) ?? '';
    return reworded(examples.get(known), status, message.startsWith(start) ? message : `${start}${message}`);
  };
}

/** The text with which every failure message starts, if its pattern demands one: `audit: `. */
function firstWords(document: Document, schema: Schema): string {
  const { error, message } = resolve(document, schema).properties ?? {};
  const { pattern } = error ?? message ?? {};
  return (typeof pattern === 'string' && /^\^([\w: ]+)$/.exec(pattern)?.[1]) || '';
}

/** The message is in `error` or `message`, one level down in some services. A number in `code` is the status. */
function reworded(example: unknown, status: number, message: string): unknown {
  if (typeof example !== 'object' || example === null) return { error: message };
  return Object.fromEntries(
    Object.entries(example).map(([name, value]: [string, unknown]) => {
      if ((name === 'error' || name === 'message') && typeof value === 'string') return [name, message];
      if (name === 'error') return [name, reworded(value, status, message)];
      return [name, name === 'code' && typeof value === 'number' ? status : value];
    }),
  );
}
