import { createRule } from '@typespec/compiler';
import { isPathParam } from '@typespec/http';
import { isDeclared, isOurs } from './scope.js';

const snake = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const camel = /^[a-z][A-Za-z0-9]*$/;
const pascal = /^[A-Z][A-Za-z0-9]*$/;

/** Each kind of name has one spelling, the one that the documents use. */
export const casingRule = createRule({
  name: 'casing',
  severity: 'warning',
  description:
    'Types are PascalCase, operations and path parameters camelCase, members and query parameters snake_case.',
  messages: {
    pascal: 'Write the names of types in PascalCase.',
    camel: 'Write operations and path parameters in camelCase.',
    snake: 'Write members and query parameters in snake_case.',
  },
  create(context) {
    const { program } = context;
    const check = (form, messageId, target) => {
      if (isOurs(program, target) && !form.test(target.name)) context.reportDiagnostic({ messageId, target });
    };
    return {
      model: (model) => {
        if (isDeclared(model)) check(pascal, 'pascal', model);
      },
      scalar: (scalar) => check(pascal, 'pascal', scalar),
      interface: (type) => check(pascal, 'pascal', type),
      operation: (operation) => check(camel, 'camel', operation),
      modelProperty: (property) => {
        if (property.name === '_') return;
        if (isPathParam(program, property)) check(camel, 'camel', property);
        else if (!isMetadata(property)) check(snake, 'snake', property);
      },
    };
  },
});

/** Headers and bodies have their own names on the wire, or none. */
function isMetadata(property) {
  return property.decorators.some(({ decorator }) =>
    ['$header', '$body', '$bodyRoot', '$statusCode'].includes(decorator.name),
  );
}
