import { createRule } from '@typespec/compiler';
import { getHttpOperation } from '@typespec/http';
import { isOurs } from './scope.js';

const always = [400, 401, 403];
const withBody = [413, 415];
const withAnyContent = [413];

/** Every operation documents its failures, so that callers need not discover them. */
export const failuresRule = createRule({
  name: 'failures',
  severity: 'warning',
  description: 'Every operation documents how it fails.',
  messages: { default: 'Document the failures of this operation: the alias of the service has them.' },
  create(context) {
    const { program } = context;
    return {
      operation: (operation) => {
        if (!operation.interface || !isOurs(program, operation)) return;
        const [http] = getHttpOperation(program, operation);
        const statuses = new Set(http.responses.map((response) => response.statusCodes));
        const open = program.stateMap(Symbol.for('Plinth.public')).has(operation);
        const { body } = http.parameters;
        const ofBody = body?.contentTypes.includes('*/*') ? withAnyContent : withBody;
        const expected = [...always, ...(body ? ofBody : [])];
        const wanted = open ? expected.filter((status) => status !== 401 && status !== 403) : expected;
        if (wanted.some((status) => !statuses.has(status))) context.reportDiagnostic({ target: operation });
      },
    };
  },
});
