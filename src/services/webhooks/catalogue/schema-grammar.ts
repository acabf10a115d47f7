import { setImmediate } from 'node:timers/promises';
import { Ajv, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Invalid } from '../../../lib/errors.ts';
import type { Dialect } from './schema-walk.ts';

/** How schemas of all dialects are compiled. */
export const options: Options = {
  strict: false,
  allErrors: false,
  inlineRefs: false,
  validateFormats: false,
  logger: false,
};

interface Grammar {
  readonly Library: new (options: Options) => Ajv;
  /** The schema of the dialect's schemas. */
  readonly name: string;
  /** The parts that it refers to, in the order in which they can be compiled each by itself. */
  readonly parts: readonly string[];
}

const vocabularies = [
  'core',
  'applicator',
  'unevaluated',
  'content',
  'format-annotation',
  'meta-data',
  'validation',
];

export const dialects: Readonly<Record<Dialect, Grammar>> = {
  '2020-12': {
    Library: Ajv2020,
    name: 'https://json-schema.org/draft/2020-12/schema',
    parts: vocabularies.map((name) => `https://json-schema.org/draft/2020-12/meta/${name}`),
  },
  'draft-07': { Library: Ajv, name: 'http://json-schema.org/draft-07/schema', parts: [] },
};

/** Nothing else is compiled in these instances. */
const grammars: Partial<Record<Dialect, Ajv>> = {};

/** The most characters of a problem. */
const longestProblem = 300;

/**
 * Checks a schema against the schema of its dialect, which the first check of a process compiles, with room for others in between.
 * @throws Invalid, naming the place
 */
export async function checkGrammar(dialect: Dialect, schema: object): Promise<void> {
  const { Library, name, parts } = dialects[dialect];
  const grammar = (grammars[dialect] ??= new Library(options));
  for (const part of parts) {
    await setImmediate();
    grammar.getSchema(part);
  }
  if (grammar.validate(name, schema)) return;
  const [{ instancePath = '', message = 'is not a schema' } = {}] = grammar.errors ?? [];
  throw Invalid(`schema: ${instancePath || 'it'} ${message}`.slice(0, longestProblem).toWellFormed());
}
