/** Chooses a conflict for an operation: the contract's examples have several causes under one status. */
import type { Operation } from '../../../generated/operations.ts';
import { operationOf, resolve, type Document } from '../contract/document.ts';
import { envelopes } from '../answers/envelope.ts';
import { substituted } from './records.ts';
import type { Resource } from '../contract/plans.ts';
import type { Values } from '../contract/values.ts';

/**
 * Returns the documented body for a record that already exists under this member: the matching example with the taken name, or
 * else a sentence in the service's envelope.
 */
export function takenBody(
  document: Document,
  operation: Operation,
  { name, example }: Resource,
  member: string,
  values: Values,
): unknown {
  const media = operationOf(document, operation.id).responses['409']?.content?.['application/json'];
  const schema = media?.schema && resolve(document, media.schema);
  const own = media?.example === undefined ? [] : [media.example];
  const causes = Object.values(media?.examples ?? {}).map(({ value }) => value);
  const examples = [...own, ...causes, ...(schema?.examples ?? [])];
  const found = examples.find((body) => isAbout(JSON.stringify(body), name, member, String(example[member])));
  if (found === undefined) return envelopes(document)(409, `${member}: already exists`);
  return substituted(found, [
    [`"${String(example[member])}"`, `"${String(values[member])}"`],
    [`: ${String(example[member])}`, `: ${String(values[member])}`],
  ]);
}

/** Whether a conflict says that a record of this kind, or with this member, exists. */
function isAbout(body: string, resource: string, member: string, taken: string): boolean {
  if (!/\b(exists|taken|has it)\b/.test(body) || /idempotency/.test(body)) return false;
  const kind = resource.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  const told = body.toLowerCase();
  return told.includes(kind) || told.includes(`"${member}`) || told.includes(taken.toLowerCase());
}
