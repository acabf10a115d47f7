import {
  createRule,
  getFormat,
  getMaxItems,
  getMaxLength,
  getMaxValue,
  getMinValue,
  getPattern,
  isArrayModelType,
} from '@typespec/compiler';
import { isOurs, withoutNull } from './scope.js';

/** Whether a bound is set on a member, on its scalar or on a base scalar. */
function said(read, program, property, type) {
  for (let at = type; at; at = at.baseScalar) if (read(program, at) !== undefined) return true;
  return read(program, property) !== undefined;
}

function root(scalar) {
  return scalar.baseScalar ? root(scalar.baseScalar) : scalar.name;
}

/** Every value has bounds: without them mocks answer -2147483648 and fuzzers send gigabytes. */
export const boundedRule = createRule({
  name: 'bounded',
  severity: 'warning',
  description: 'Every text has a greatest length, every number a range, every array a greatest size.',
  messages: {
    string: 'Give this text a @maxLength (or a @pattern that bounds it, or a @format).',
    number: 'Give this number a @minValue and a @maxValue.',
    array: 'Give this array a @maxItems.',
  },
  create(context) {
    const { program } = context;
    return {
      modelProperty: (property) => {
        const type = withoutNull(property.type);
        if (!isOurs(program, property)) return;
        if (type.kind === 'Model' && isArrayModelType(program, type)) {
          if (!said(getMaxItems, program, property, type))
            context.reportDiagnostic({ messageId: 'array', target: property });
          return;
        }
        if (type.kind !== 'Scalar') return;
        const kind = root(type);
        if (kind === 'string') {
          const bounded = [getMaxLength, getFormat, getPattern].some((read) =>
            said(read, program, property, type),
          );
          if (!bounded) context.reportDiagnostic({ messageId: 'string', target: property });
        } else if (kind !== 'boolean' && kind !== 'bytes' && kind !== 'utcDateTime') {
          const bounded =
            said(getMinValue, program, property, type) && said(getMaxValue, program, property, type);
          if (!bounded) context.reportDiagnostic({ messageId: 'number', target: property });
        }
      },
    };
  },
});
