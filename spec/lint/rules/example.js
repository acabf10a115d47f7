import { createRule, getExamples, isArrayModelType } from '@typespec/compiler';
import { isDeclared, isOurs } from './scope.js';

const readsByItself = new Set(['boolean', 'bytes']);

/** Examples are what mocks answer, what the reference shows and what the contract tests send. */
export const exampleRule = createRule({
  name: 'example',
  severity: 'warning',
  description: 'Every model and every scalar of the contract has a realistic example.',
  messages: { default: 'Give this an @example that reads like real data.' },
  create(context) {
    const { program } = context;
    const check = (type) => {
      if (isOurs(program, type) && getExamples(program, type).length === 0)
        context.reportDiagnostic({ target: type });
    };
    return {
      model: (model) => {
        if (
          isDeclared(model) &&
          !isArrayModelType(program, model) &&
          model.properties.size > 0 &&
          !isEnvelope(model)
        )
          check(model);
      },
      scalar: (scalar) => {
        if (!readsByItself.has(scalar.name)) check(scalar);
      },
    };
  },
});

/** Whether a model only wraps a body as a response, or holds parameters to spread. It is then not a schema. */
function isEnvelope(model) {
  return [...model.properties.values()].some((property) =>
    property.decorators.some(({ decorator }) =>
      ['$statusCode', '$query', '$header', '$body'].includes(decorator.name),
    ),
  );
}
