import { createRule, getTags } from '@typespec/compiler';
import { isOurs } from './scope.js';

/** The reference groups operations by tag, and the tag is the resource. */
export const taggedRule = createRule({
  name: 'tagged',
  severity: 'warning',
  description: 'Every interface carries its own name as the tag of its operations.',
  messages: { default: 'Tag this interface with its own name.' },
  create(context) {
    return {
      interface: (type) => {
        if (!isOurs(context.program, type)) return;
        if (!getTags(context.program, type).includes(type.name)) context.reportDiagnostic({ target: type });
      },
    };
  },
});
