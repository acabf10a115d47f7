/** One document's schemas as a judge of values: Ajv decides, in the 2020-12 dialect that OpenAPI 3.1 is written in. */
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { resolve, type Schema, type Schemas } from './document.ts';
import { meaning } from './meaning.ts';

export interface Judge {
  readonly schemas: Schemas;
  resolve(schema: Schema): Schema;
  /** Whether a JSON value is valid. */
  accepts(schema: Schema, value: unknown): boolean;
  /** Whether a text is valid where texts are all there is: in paths, queries and headers. */
  acceptsText(schema: Schema, text: string | readonly string[]): boolean;
  /** Samples that were made already, by the meaning of their schema. */
  readonly samples: Map<string, unknown>;
}

export function judgeOf(schemas: Schemas): Judge {
  const values = compiler(schemas, false);
  const texts = compiler(schemas, true);
  const resolved = new WeakMap<Schema, Schema>();
  return {
    schemas,
    resolve(schema) {
      const found = resolved.get(schema) ?? resolve(schemas, schema);
      resolved.set(schema, found);
      return found;
    },
    samples: new Map(),
    accepts: (schema, value) => values(schema)({ value }),
    acceptsText: (schema, text) => texts(schema)({ value: text }),
  };
}

type Validate = (holder: { value: unknown }) => boolean;

function compiler(schemas: Schemas, coerceTypes: boolean): (schema: Schema) => Validate {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, coerceTypes });
  addFormats.default(ajv);
  ajv.addSchema(inDocument({ $id: 'document', components: { schemas } }) as AnySchema);
  const known = new Map<string, Validate>();
  return (schema) => {
    const text = meaning(schema);
    let validate = known.get(text);
    if (!validate) {
      const holder = { type: 'object', properties: { value: inDocument(schema) }, required: ['value'] };
      validate = ajv.compile(holder) as Validate;
      known.set(text, validate);
    }
    return validate;
  };
}

function inDocument(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(inDocument);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([name, part]) => [
      name,
      name === '$ref' && typeof part === 'string' ? `document${part}` : inDocument(part),
    ]),
  );
}
