/** Request validators of a service: Ajv's standalone code, so that nothing is compiled when the server starts. */
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import addFormats from 'ajv-formats';
import { isComposed, refName, structured, type Operation, type ServiceContract } from './contract.ts';
import { withoutRestored } from './leeway.ts';
import { header } from './source.ts';

type Part = 'path' | 'query' | 'header' | 'body';

/** Parameters arrive as text and are coerced. Bodies are not. Both get their defaults. */
const compilers = { body: () => compiler(false), parameters: () => compiler(true) };

/** Files of generated code, by their path within the folder of the service. */
export type ValidatorFiles = readonly (readonly [path: string, code: string])[];

/**
 * Generates one file per resource, so that a change of one affects only its own file, and `validators.js` for the whole
 * service. A resource's file contains everything to which its schemas refer.
 */
export function validators(service: ServiceContract): ValidatorFiles {
  const resources = Map.groupBy(service.operations, ({ resource }) => resource);
  const names = [...resources.keys()].sort();
  return [
    ...names.map((name) => [`validators/${name}.js`, codeOf(service, resources.get(name)!)] as const),
    ['validators.js', indexOf(names)],
    ['validators.d.ts', types],
  ];
}

const indexOf = (names: readonly string[]): string =>
  [
    header.trimEnd(),
    ...names.map((name) => `import { validators as ${name} } from './validators/${name}.js';`),
    '',
    'export const validators = {',
    ...names.map((name) => `  ...${name},`),
    '};',
    '',
  ].join('\n');

function codeOf(service: ServiceContract, operations: readonly Operation[]): string {
  const parts = operations.flatMap((operation) => operationParts(operation));
  const bodies = parts.filter((part) => part.part === 'body');
  const parameters = parts.filter((part) => part.part !== 'body');
  return [
    header,
    // Ajv's helpers are CommonJS, and its code loads them with `require` even in ES modules.
    "import { createRequire } from 'node:module';",
    'const require = createRequire(import.meta.url);',
    ...standalone(service, compilers.body(), bodies),
    ...standalone(service, compilers.parameters(), parameters),
    'export const validators = {',
    ...operations.map((operation) => {
      const own = parts.filter((part) => part.id === operation.id);
      return `  ${operation.id}: { ${own.map((part) => `${part.part}: ${exportName(part)}`).join(', ')} },`;
    }),
    '};',
    '',
  ].join('\n');
}

const types = `${header}export interface ValidationError {
  instancePath: string;
  keyword: string;
  params: Record<string, unknown>;
  message?: string;
}
export interface Validator {
  (data: unknown): boolean;
  errors?: ValidationError[] | null;
}
export declare const validators: Readonly<
  Record<string, Readonly<{ path?: Validator; query?: Validator; header?: Validator; body?: Validator }>>
>;
`;

interface PartSchema {
  id: string;
  part: Part;
  schema: AnySchema;
}

const exportName = ({ id, part }: { id: string; part: Part }) => `${id}_${part}`;

function operationParts(operation: Operation): PartSchema[] {
  const parts: PartSchema[] = (['path', 'query', 'header'] as const).flatMap((part) => {
    const own = operation.parameters.filter((parameter) => parameter.in === part);
    if (own.length === 0 && part !== 'query') return [];
    return [
      {
        id: operation.id,
        part,
        schema: {
          type: 'object',
          properties: Object.fromEntries(
            own.map(({ name, schema }) => [part === 'header' ? name.toLowerCase() : name, schema]),
          ),
          required: own
            .filter(({ required }) => required)
            .map(({ name }) => (part === 'header' ? name.toLowerCase() : name)),
          // A request has many more headers than an operation names, but an unknown query parameter is an error.
          additionalProperties: part === 'header',
        },
      },
    ];
  });
  const media = operation.body && structured(operation.body.content);
  return media ? [...parts, { id: operation.id, part: 'body', schema: media.schema }] : parts;
}

function compiler(coerceTypes: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    coerceTypes,
    useDefaults: true,
    discriminator: false,
    code: { source: true, esm: true, lines: true },
  });
  addFormats.default(ajv);
  return ajv;
}

/** Generates one block of code per compiler. Each needs its own scope, because Ajv numbers its functions from zero each time. */
function standalone(service: ServiceContract, ajv: Ajv2020, parts: PartSchema[]): string[] {
  if (parts.length === 0) return [];
  ajv.addSchema(forAjv({ $id: 'contract', $defs: withoutRestored(service.schemas) }) as AnySchema);
  for (const part of parts) ajv.addSchema({ $id: exportName(part), ...(forAjv(part.schema) as object) });
  const names = parts.map(exportName);
  const code = standaloneCode.default(ajv, Object.fromEntries(names.map((name) => [name, name])));
  return [
    `const { ${names.join(', ')} } = (() => {`,
    asBlock(code),
    `return { ${names.join(', ')} };`,
    '})();',
  ];
}

/** Turns a module written by Ajv into a block, in which its exports are plain constants. */
function asBlock(code: string): string {
  return code
    .replace(/^"use strict";/, '')
    .replace(/^export const (\w+) = (\w+);$/gm, (_, name: string, value: string) =>
      name === value ? '' : `const ${name} = ${value};`,
    )
    .replace(/^export default .*;$/gm, '');
}

/**
 * References into the document become references into the single definitions schema. The rule for other members of an object
 * becomes `additionalProperties` if the object is not composed: this has the same meaning and gives faster code and an error
 * that names the member. Beside a composition it would reject the members that the parts declare.
 */
function forAjv(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(forAjv);
  if (typeof node !== 'object' || node === null) return node;
  const { unevaluatedProperties: open, ...all } = node as Record<string, unknown>;
  const rest = Object.fromEntries(Object.entries(all).filter(([keyword]) => !annotations.has(keyword)));
  const copy = Object.fromEntries(
    Object.entries(rest).map(([keyword, value]) => [keyword, keywordForAjv(keyword, value)]),
  );
  if (open === undefined || open === true || JSON.stringify(open) === '{}') return copy;
  const others = open === false || JSON.stringify(open) === '{"not":{}}' ? false : forAjv(open);
  return isComposed(rest)
    ? { ...copy, unevaluatedProperties: others }
    : { ...copy, additionalProperties: others };
}

/** Keywords that do not affect validity. */
const annotations = new Set(['description', 'examples', 'readOnly', 'x-ignored', 'x-restores']);

function keywordForAjv(keyword: string, value: unknown): unknown {
  if (keyword === '$ref' && typeof value === 'string') return `contract#/$defs/${refName(value)}`;
  // The members of these are names of the contract, not keywords.
  if (keyword === 'properties' || keyword === '$defs') {
    return Object.fromEntries(
      Object.entries(value as object).map(([name, schema]) => [name, forAjv(schema)]),
    );
  }
  return keyword === 'default' || keyword === 'enum' || keyword === 'const' ? value : forAjv(value);
}
