import { createRule, getMaxValue, isArrayModelType } from '@typespec/compiler';
import { getHttpOperation } from '@typespec/http';
import { isOurs } from './scope.js';

/** Every list has a limit. */
export const listLimitRule = createRule({
  name: 'list-limit',
  severity: 'warning',
  description: 'An operation that answers an array takes a bounded `limit`.',
  messages: { default: 'Give this list a `limit` with a default and a greatest value.' },
  create(context) {
    const { program } = context;
    return {
      operation: (operation) => {
        if (!operation.interface || !isOurs(program, operation)) return;
        const [http] = getHttpOperation(program, operation);
        const answersArray = http.responses.some(
          (response) =>
            response.statusCodes === 200 &&
            response.responses.some(
              ({ body }) => body?.type.kind === 'Model' && isArrayModelType(program, body.type),
            ),
        );
        if (http.verb !== 'get' || !answersArray) return;
        const limit = http.parameters.parameters.find(({ param }) => param.name === 'limit')?.param;
        const bounded = limit?.defaultValue !== undefined && getMaxValue(program, limit) !== undefined;
        if (!bounded) context.reportDiagnostic({ target: operation });
      },
    };
  },
});
