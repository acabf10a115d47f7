/** Request validators of a service: Ajv's standalone code, so that nothing is compiled when the server starts. */
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import addFormats from 'ajv-formats';
import { refName, structured, type Operation, type ServiceContract } from './contract.ts';
import { withoutRestored } from './leeway.ts';
import { header } from './source.ts';

type Part = 'path' | 'query' | 'header' | 'body';

/** Parameters arrive as text and are coerced; bodies are taken as they are. Both get their defaults. */
const compilers = { body: () => compiler(false), parameters: () => compiler(true) };

export function validators(service: ServiceContract): { code: string; types: string } {
  const parts = service.operations.flatMap((operation) => operationParts(operation));
  const bodies = parts.filter((part) => part.part === 'body');
  const parameters = parts.filter((part) => part.part !== 'body');
  const code = [
    header,
    // Ajv's helpers are CommonJS, and it asks for them with `require` even in ES modules.
    "import { createRequire } from 'node:module';",
    'const require = createRequire(import.meta.url);',
    ...standalone(service, compilers.body(), bodies),
    ...standalone(service, compilers.parameters(), parameters),
    'export const validators = {',
    ...service.operations.map((operation) => {
      const own = parts.filter((part) => part.id === operation.id);
      return `  ${operation.id}: { ${own.map((part) => `${part.part}: ${exportName(part)}`).join(', ')} },`;
    }),
    '};',
    '',
  ].join('\n');
  return { code, types };
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
          // A request has many more headers than an operation names; a misspelt query parameter is an error.
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

/** One block of code per compiler, in a scope of its own because Ajv numbers its functions from zero each time. */
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

/** Ajv writes a module; in a block its exports are plain constants. */
function asBlock(code: string): string {
  return code
    .replace(/^"use strict";/, '')
    .replace(/^export const (\w+) = (\w+);$/gm, (_, name: string, value: string) =>
      name === value ? '' : `const ${name} = ${value};`,
    )
    .replace(/^export default .*;$/gm, '');
}

/**
 * References into the document become references into the one definitions schema. Sealed objects that are not composed
 * are said with `additionalProperties`: the same meaning, faster code, and an error that names the member.
 */
function forAjv(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(forAjv);
  if (typeof node !== 'object' || node === null) return node;
  const { unevaluatedProperties: open, ...all } = node as Record<string, unknown>;
  const rest = Object.fromEntries(Object.entries(all).filter(([keyword]) => !annotations.has(keyword)));
  const copy = Object.fromEntries(
    Object.entries(rest).map(([keyword, value]) => [keyword, keywordForAjv(keyword, value)]),
  );
  if (open === undefined || JSON.stringify(open) === '{}') return copy;
  if (JSON.stringify(open) !== '{"not":{}}') return { ...copy, additionalProperties: forAjv(open) };
  const composed = ['allOf', 'anyOf', 'oneOf', '$ref'].some((key) => key in rest);
  return composed ? { ...copy, unevaluatedProperties: false } : { ...copy, additionalProperties: false };
}

/** Keywords that say nothing about validity. */
const annotations = new Set(['description', 'examples', 'readOnly', 'x-ignored', 'x-restores']);

function keywordForAjv(keyword: string, value: unknown): unknown {
  if (keyword === '$ref' && typeof value === 'string') return `contract#/$defs/${refName(value)}`;
  // Their members are names of the contract, not keywords.
  if (keyword === 'properties' || keyword === '$defs') {
    return Object.fromEntries(
      Object.entries(value as object).map(([name, schema]) => [name, forAjv(schema)]),
    );
  }
  return keyword === 'default' || keyword === 'enum' || keyword === 'const' ? value : forAjv(value);
}
