import { exampleOf, type Document } from './document.ts';

/**
 * Makes the documented bodies of failures of one service: the example of the status with the message in place of its own. A
 * status that the document does not name (404 for a path, 405) takes the form of another one.
 */
export function envelopes(document: Document): (status: number, message: string) => unknown {
  const examples = new Map<number, unknown>();
  for (const item of Object.values(document.paths)) {
    for (const { responses } of Object.values(item)) {
      for (const [status, { content }] of Object.entries(responses)) {
        const schema = content?.['application/json']?.schema;
        if (Number(status) >= 400 && schema) examples.set(Number(status), exampleOf(document, schema));
      }
    }
  }
  return (status, message) => reworded(examples.get(status) ?? examples.get(400), status, message);
}

/** `error` or `message` is where the sentence stands, one level down in some services; a number as `code` is the status. */
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
