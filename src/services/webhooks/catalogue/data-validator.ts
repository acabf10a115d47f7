import { Ajv, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { DomainError, Invalid } from '../../../lib/errors.ts';
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
 * Compiles a JSON Schema. Its validator does a bounded amount of work, whatever the schema and the data are.
 * @throws Invalid when the schema is malformed or one that is refused
 */
export function compileSchema(given: Readonly<Record<string, unknown>>): DataValidator {
  const { dialect, schema } = preparedSchema(given);
  checkGrammar(dialect, given);
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

const options: Options = {
  strict: false,
  allErrors: false,
  inlineRefs: false,
  validateFormats: false,
  logger: false,
};

/** Each schema has an instance of its own, because an instance keeps parts of everything that it compiled. */
function compiled(dialect: Dialect, schema: object, work: Work) {
  const regExp = Object.assign(patterns(work), { code: 'pattern' });
  const ajv = new classes[dialect]({
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

const classes: Readonly<Record<Dialect, new (options: Options) => Ajv>> = {
  '2020-12': Ajv2020,
  'draft-07': Ajv,
};

/** Checks schemas against the schemas of their dialects; nothing else is compiled in these instances. */
const grammars: Partial<Record<Dialect, Ajv>> = {};

const names: Readonly<Record<Dialect, string>> = {
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema',
};

function checkGrammar(dialect: Dialect, schema: object): void {
  const grammar = (grammars[dialect] ??= new classes[dialect](options));
  if (grammar.validate(names[dialect], schema)) return;
  const [{ instancePath = '', message = 'is not a schema' } = {}] = grammar.errors ?? [];
  throw Invalid(`schema: ${instancePath || 'it'} ${message}`.slice(0, longestViolation).toWellFormed());
}

function refusal(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  const { message } = error as Error;
  return Invalid(`schema: ${message}`.slice(0, longestViolation).toWellFormed(), { cause: error });
}
