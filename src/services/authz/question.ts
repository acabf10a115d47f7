import type { Check } from '../../../generated/authz/types.ts';
import { checkAttributes } from './attributes.ts';
import { checkEntityId } from './records.ts';

type Attributed = Pick<Check, 'context' | 'subject_attributes' | 'resource_attributes' | 'action_attributes'>;
type Question = Attributed & { subject_id?: string; resource_id?: string };

/** Checks what the contract cannot express about a question. `at` is a prefix of the field, such as `checks[2].`. */
export function checkQuestion(question: Question, at = ''): void {
  checkEntityId(question.subject_id, `${at}subject_id`);
  checkEntityId(question.resource_id, `${at}resource_id`);
  checkAttributes(question.context, `${at}context`);
  checkAttributes(question.subject_attributes, `${at}subject_attributes`);
  checkAttributes(question.resource_attributes, `${at}resource_attributes`);
  checkAttributes(question.action_attributes, `${at}action_attributes`);
}
