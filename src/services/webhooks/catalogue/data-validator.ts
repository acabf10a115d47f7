import { DomainError, Invalid } from '../../../lib/errors.ts';
import { checkGrammar, dialects, options } from './schema-grammar.ts';
import { patterns } from './schema-patterns.ts';
import { costKeyword, type Dialect, preparedSchema } from './schema-walk.ts';
import { type Cost, TooMuchWork, unitsOf, Work } from './schema-work.ts';
import { hasRepeatedItem } from './unique-items.ts';

/** Checks data; returns where in the data and what is wrong, or undefined when nothing is. */
export type DataValidator = (data: unknown) => string | undefined;

/** The most characters of a violation. */
const longestViolation = 300;
const tooComplex = 'data is too complex to be validated';

/**
 * Compiles a JSON Schema that somebody has just written.
 * @throws Invalid when the schema is malformed or one that is refused
 */
export async function compileNewSchema(given: Readonly<Record<string, unknown>>): Promise<DataValidator> {
  const { dialect } = preparedSchema(given);
  await checkGrammar(dialect, given);
  return compileSchema(given);
}

/**
 * Compiles a JSON Schema that was accepted before. Its validator does a bounded amount of work, whatever the schema and the data are.
 * @throws Invalid when the schema is one that is refused
 */
export function compileSchema(given: Readonly<Record<string, unknown>>): DataValidator {
  const { dialect, schema } = preparedSchema(given);
  const work = new Work();
  const validate = compiled(dialect, schema, work);

  const validator: DataValidator = (data) => {
    work.begin();
    try {
      if (validate(data)) return undefined;
    } catch (error) {
      // References that lead back to themselves with the same value exhaust the stack.
      if (error instanceof TooMuchWork || error instanceof RangeError) return tooComplex;
      throw error;
    }
    const [{ instancePath = '', message = 'is not allowed' } = {}] = validate.errors ?? [];
    return `${instancePath || 'data'} ${message}`.slice(0, longestViolation).toWellFormed();
  };
  if (validator({}) === tooComplex) throw Invalid('schema: takes too much work for even an empty object');
  return validator;
}

/** Each schema has an instance of its own, because an instance keeps parts of everything that it compiled. */
function compiled(dialect: Dialect, schema: object, work: Work) {
  const regExp = Object.assign(patterns(work), { code: 'pattern' });
  const ajv = new dialects[dialect].Library({
    ...options,
    meta: false,
    validateSchema: false,
    code: { regExp, optimize: false },
  });
  ajv.addKeyword({
    keyword: costKeyword,
    before: '$ref',
    errors: false,
    compile: (cost: Cost) => (data: unknown) => {
      work.spend(unitsOf(cost, data));
      return true;
    },
  });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    error: { message: 'must NOT have duplicate items' },
    compile: (unique: unknown) => (items: readonly unknown[]) =>
      unique !== true || !hasRepeatedItem(items, (units) => work.spend(units)),
  });
  try {
    return ajv.compile(schema);
  } catch (error) {
    throw refusal(error);
  }
}

function refusal(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  const { message } = error as Error;
  return Invalid(`schema: ${message}`.slice(0, longestViolation).toWellFormed(), { cause: error });
}
