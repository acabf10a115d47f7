/** Validates values against one document's schemas: Ajv decides, in the 2020-12 dialect of OpenAPI 3.1. */
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { readContent } from './content.ts';
import { resolve, type Schema, type Schemas } from './document.ts';
import { flat } from './flat.ts';
import { meaning } from './meaning.ts';

/** The forms of a value in a path, a query or a header. */
export type Texts = string | readonly string[] | Readonly<Record<string, string>>;

export interface Judge {
  readonly schemas: Schemas;
  /** Resolves a schema and returns it in the form that the rules read. */
  readonly resolve: (schema: Schema) => Schema;
  /** Whether a JSON value is proved to be valid. */
  accepts(schema: Schema, value: unknown): boolean;
  /** Whether a JSON value is proved to be invalid. */
  refuses(schema: Schema, value: unknown): boolean;
  /** Whether a text is valid where values are always texts: in paths, queries and headers. */
  acceptsText(schema: Schema, text: Texts): boolean;
  /** Samples made so far, by the meaning of their schema. */
  readonly samples: Map<string, unknown>;
}

export function judgeOf(schemas: Schemas): Judge {
  let [values, texts]: (Compile | undefined)[] = [];
  const ofValues: Compile = (schema) => (values ??= compiler(schemas, false))(schema);
  const ofTexts: Compile = (schema) => (texts ??= compiler(schemas, true))(schema);
  const resolved = new WeakMap<Schema, Schema>();
  const read = (schema: Schema): Schema => {
    const known = resolved.get(schema);
    if (known) return known;
    const found = resolve(schemas, schema);
    // A schema that contains itself stays unchanged.
    resolved.set(schema, found);
    const made = flat(read, found);
    resolved.set(schema, made);
    return made;
  };
  return {
    schemas,
    resolve: read,
    samples: new Map(),
    accepts: (schema, value) => decided(ofValues(schema), { value }) === true,
    refuses: (schema, value) => decided(ofValues(schema), { value }) === false,
    // Ajv replaces the text by the value that it reads from it, so it gets a copy.
    acceptsText: (schema, text) => decided(ofTexts(schema), { value: structuredClone(text) }) === true,
  };
}

type Validate = (holder: { value: unknown }) => boolean;

/** Ajv's generated code throws for some schemas with `unevaluatedProperties`. The result is then undecided. */
function decided(validate: Validate, holder: { value: unknown }): boolean | undefined {
  try {
    return validate(holder);
  } catch {
    return undefined;
  }
}

type Compile = (schema: Schema) => Validate;

function compiler(schemas: Schemas, coerceTypes: boolean): Compile {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, coerceTypes });
  addFormats.default(ajv);
  for (const keyword of ['contentMediaType', 'contentEncoding', 'contentSchema']) ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword: 'contentEncoding',
    type: 'string',
    validate: (encoding: string, text: string) =>
      readContent({ contentEncoding: encoding }, text) !== undefined,
  });
  ajv.addKeyword({
    keyword: 'contentMediaType',
    type: 'string',
    validate: (_: string, text: string, parent?: object) => readContent(parent as Schema, text) !== undefined,
  });
  ajv.addKeyword({
    keyword: 'contentSchema',
    type: 'string',
    validate(schema: AnySchema, text: string, parent?: object) {
      const content = readContent(parent as Schema, text);
      return !content || !('value' in content) || ajv.validate(schema, content.value);
    },
  });
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
