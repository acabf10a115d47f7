import { createRule, getDoc } from '@typespec/compiler';
import { isDeclared, isOurs } from './scope.js';

/** Every declaration is documented: the texts appear in the public reference, the SDK's hover texts and the mock's page. */
export const documentedRule = createRule({
  name: 'documented',
  severity: 'warning',
  description: 'Every model, member, scalar, enum, interface, operation and parameter says what it means.',
  messages: { default: 'Say what this means in a doc comment.' },
  create(context) {
    const check = (type) => {
      if (isOurs(context.program, type) && !getDoc(context.program, type))
        context.reportDiagnostic({ target: type });
    };
    return {
      model: (model) => {
        if (isDeclared(model)) check(model);
      },
      modelProperty: (property) => {
        if (property.name !== '_' && !explainedByType(context.program, property)) check(property);
      },
      scalar: check,
      enum: check,
      interface: check,
      operation: (operation) => {
        if (!operation.sourceOperation) check(operation);
      },
    };
  },
});

/** Whether a parameter needs no description because its type has one: `@path roleId: RoleId`. */
function explainedByType(program, property) {
  const isParameter = property.model?.name === '';
  return isParameter && Boolean(property.type.name) && Boolean(getDoc(program, property.type));
}
