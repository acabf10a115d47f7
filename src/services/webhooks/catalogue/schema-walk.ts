import { Invalid } from '../../../lib/errors.ts';
import { isDeeper } from '../../../lib/json-levels.ts';
import { type Cost, codeOf, costOf } from './schema-work.ts';

/** The dialects of JSON Schema that are understood. */
export type Dialect = '2020-12' | 'draft-07';

/** A schema ready to be compiled: a copy in which every subschema has its cost under `costKeyword`. */
export interface PreparedSchema {
  readonly dialect: Dialect;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** The keyword that spends the cost of its subschema. */
export const costKeyword = '$plinth:cost';

const dialects: Readonly<Record<string, Dialect>> = {
  'https://json-schema.org/draft/2020-12/schema': '2020-12',
  'http://json-schema.org/draft-07/schema': 'draft-07',
  'https://json-schema.org/draft-07/schema': 'draft-07',
};

const mostLevels = 32;
const mostSubschemas = 500;
/** The most code that a schema becomes, in units of `codeOf`: compiling it cannot be interrupted, and takes less than 50 ms. */
const mostCode = 600;

/** Keywords whose value is a subschema, a list of subschemas, or an object whose members are subschemas. */
const inOne = new Set([
  ...['not', 'if', 'then', 'else', 'additionalItems', 'contains', 'additionalProperties', 'propertyNames'],
  ...['unevaluatedItems', 'unevaluatedProperties', 'items'],
]);
const inList = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
const inMembers = new Set([
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'],
]);

/** Keywords whose effect would reach beyond their schema, or that would make validation asynchronous. */
const refused = ['$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor', '$async'];

/**
 * Checks what the standard's own rules do not: size, depth, and that references stay in the document and lead to subschemas.
 * @throws Invalid, naming the place
 */
export function preparedSchema(root: Readonly<Record<string, unknown>>): PreparedSchema {
  if (isDeeper(root, mostLevels)) throw Invalid(`schema: nested deeper than ${mostLevels} levels`);
  const walk = new Walk(root['$id']);
  const copy = walk.copy(root, '');
  walk.checkReferences();
  const { $schema: _, $id: __, ...schema } = copy as Record<string, unknown>;
  return { dialect: dialectOf(root['$schema']), schema };
}

function dialectOf(named: unknown): Dialect {
  if (named === undefined) return '2020-12';
  const dialect = typeof named === 'string' ? dialects[named.replace(/#$/, '')] : undefined;
  if (dialect === undefined) throw Invalid('schema: $schema must be that of 2020-12 or of draft-07');
  return dialect;
}

/** One pass over a schema. */
class Walk {
  readonly #id: unknown;
  readonly #targets = new Set<string>();
  readonly #references: { readonly target: string; readonly at: string }[] = [];
  #subschemas = 0;
  #code = 0;

  constructor(id: unknown) {
    this.#id = id;
  }

  copy(schema: unknown, at: string): unknown {
    if (++this.#subschemas > mostSubschemas) throw Invalid(`schema: more than ${mostSubschemas} subschemas`);
    this.#targets.add(`#${at}`);
    if (typeof schema === 'boolean') return schema;
    if (!isObject(schema)) throw Invalid(`schema: must be an object or a boolean at ${at}`);
    this.#check(schema, at);
    this.#code += codeOf(schema);
    if (this.#code > mostCode) throw Invalid(`schema: its keywords are more than ${mostCode} units of work`);
    const members = Object.entries(schema).map(([name, value]) => [name, this.#member(name, value, at)]);
    const cost: [string, Cost] = [costKeyword, costOf(schema)];
    return Object.fromEntries([...members, cost]);
  }

  #check(schema: Readonly<Record<string, unknown>>, at: string): void {
    const found = refused.find((name) => Object.hasOwn(schema, name));
    if (found !== undefined) throw Invalid(`schema: ${found} is not supported ${placeOf(at)}`);
    if (at !== '' && Object.hasOwn(schema, '$id'))
      throw Invalid(`schema: $id is supported only at the root, not ${placeOf(at)}`);
    const { $anchor, $ref } = schema;
    if (typeof $anchor === 'string') this.#targets.add(`#${$anchor}`);
    if (typeof $ref === 'string') this.#references.push({ target: this.#targetOf($ref, at), at });
  }

  /** The reference without the document's own name. */
  #targetOf(reference: string, at: string): string {
    const [document = '', fragment = ''] = reference.split('#', 2);
    const itself = typeof this.#id === 'string' ? this.#id.replace(/#$/, '') : '';
    if (document !== '' && document !== itself)
      throw Invalid(`schema: reference out of the document ${placeOf(at)}`);
    return `#${unescaped(fragment)}`;
  }

  #member(name: string, value: unknown, at: string): unknown {
    const below = `${at}/${pointerPart(name)}`;
    if (name === '$ref' && typeof value === 'string') return `#${value.split('#', 2)[1] ?? ''}`;
    if (inMembers.has(name) && isObject(value)) {
      // A dependency may be a list of names instead of a subschema.
      const member = (key: string, one: unknown) =>
        Array.isArray(one) ? one : this.copy(one, `${below}/${pointerPart(key)}`);
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, member(key, one)]));
    }
    if (inList.has(name) && Array.isArray(value))
      return value.map((one, index) => this.copy(one, `${below}/${index}`));
    return inOne.has(name) && !Array.isArray(value) ? this.copy(value, below) : value;
  }

  /** A reference to what is not a subschema, such as an example, would lead around the costs. */
  checkReferences(): void {
    const lost = this.#references.find(({ target }) => !this.#targets.has(target));
    if (lost !== undefined) throw Invalid(`schema: reference to no subschema ${placeOf(lost.at)}`);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const placeOf = (at: string) => (at === '' ? 'at the root' : `at ${at.slice(0, 200)}`.toWellFormed());

const pointerPart = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

function unescaped(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
