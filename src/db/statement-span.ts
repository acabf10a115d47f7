import { markFailed, partSpan } from '../lib/tracing/spans.ts';
import type { Statement } from './statement.ts';

/** The most characters of a statement's text that its span carries. */
const mostText = 2_000;

/**
 * Measures a statement where it is a part of a measured request or job: from its place in the connection's line to its result. Its text
 * has parameters instead of values.
 */
export function measureStatement(statement: Statement): void {
  const span = partSpan('statement', { 'db.system.name': 'postgresql' });
  if (span === undefined) return;
  const end = () => {
    const { string = '' } = statement as { string?: string };
    const text = string.replaceAll(/\s+/g, ' ').trim();
    span.updateName(nameOf(text)).setAttribute('db.query.text', text.slice(0, mostText)).end();
  };
  statement.then(end, (error: unknown) => {
    markFailed(span, error);
    end();
  });
}

/** The command of a statement and the first table that it names. */
function nameOf(text: string): string {
  const [command = ''] = text.split(' ', 1);
  const table = /\b(?:from|into|update|join) ((?:"?\w+"?\.)?"?\w+"?)/i.exec(text)?.[1];
  return table === undefined ? command.toLowerCase() : `${command.toLowerCase()} ${table}`;
}
