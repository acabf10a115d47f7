import { Invalid } from '../../lib/errors.ts';
import type { ResourceTypeRule, TupleKey } from './engine/types.ts';
import { checkEntityId } from './records.ts';

/** Checks a tuple on its own. `at` is a prefix of the field, such as `writes[3].`. */
export function checkKey(key: TupleKey, at = ''): void {
  checkEntityId(key.object_id, `${at}object_id`);
  checkEntityId(key.subject_id, `${at}subject_id`);
  if (key.subject_id === '*' && key.subject_relation !== '')
    throw Invalid(`${at}subject_relation: not with the subject *`);
}

/** Checks a new tuple against the declaration of its object's type: a tuple that the type does not allow would never count. */
export function checkAgainstType(
  key: TupleKey,
  types: readonly Pick<ResourceTypeRule, 'name' | 'relations'>[],
  at = '',
): void {
  const type = types.find(({ name }) => name === key.object_type);
  if (!type) return;
  const relation = type.relations.find(({ name }) => name === key.relation);
  if (!relation) throw Invalid(`${at}relation: "${key.relation}" is not a relation of "${type.name}"`);
  const form = subjectForm(key);
  if (!relation.subjects.includes(form))
    throw Invalid(`${at}subject_type: "${form}" is not a subject of "${type.name}#${relation.name}"`);
}

/** Rejects a repeated key: its effect would depend on the order. */
export function checkDistinct(keys: readonly { key: TupleKey; at: string }[]): void {
  const seen = new Set<string>();
  for (const { key, at } of keys) {
    const text = keyText(key);
    if (seen.has(text)) throw Invalid(`${at}: the same tuple twice`);
    seen.add(text);
  }
}

export const keyOf = (key: TupleKey): TupleKey => ({
  object_type: key.object_type,
  object_id: key.object_id,
  relation: key.relation,
  subject_type: key.subject_type,
  subject_id: key.subject_id,
  subject_relation: key.subject_relation,
});

function subjectForm({ subject_type, subject_id, subject_relation }: TupleKey): string {
  if (subject_relation !== '') return `${subject_type}#${subject_relation}`;
  return subject_id === '*' ? `${subject_type}:*` : subject_type;
}

/** Ids hold no control characters, so each key has its own text. */
const keyText = (key: TupleKey) => Object.values(keyOf(key)).join('\n');
