/** Checking these data against their schema would keep other requests waiting. */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork';
}

/** The units of work that every check may take, each up to some tens of nanoseconds. */
const granted = 300_000;
/** The units after which the time of a check with more work is looked at. */
const further = 20_000;
/** The milliseconds of processor time that such a check may take for the rest. */
const mostMs = 25;

/**
 * The work of one check at a time. Usual data are accepted or refused by what they are. A check with very much work depends on the time
 * that it takes, and only on that of this thread, so that a busy machine refuses nothing more.
 */
export class Work {
  #left = granted;
  #further: NodeJS.CpuUsage | undefined;

  begin(): void {
    this.#left = granted;
    this.#further = undefined;
  }

  /** @throws TooMuchWork */
  spend(units: number): void {
    this.#left -= units;
    if (this.#left >= 0) return;
    this.#left = further;
    this.#further ??= process.threadCpuUsage();
    const { user, system } = process.threadCpuUsage(this.#further);
    if (user + system > mostMs * 1_000) throw new TooMuchWork();
  }
}

/** What checking a value against the keywords of one subschema costs, without its own subschemas. */
export interface Cost {
  readonly base: number;
  /** Units for each key of an object, each item of an array and each character of a text. */
  readonly key: number;
  readonly item: number;
  readonly character: number;
}

const loopsOverKeys = [
  ...['additionalProperties', 'patternProperties', 'propertyNames', 'unevaluatedProperties'],
  ...['maxProperties', 'minProperties'],
];
const loopsOverItems = [
  'items',
  'additionalItems',
  'contains',
  'prefixItems',
  'unevaluatedItems',
  'uniqueItems',
];
const loopsOverCharacters = ['minLength', 'maxLength'];
/** Keywords whose whole value is compared with the data. */
const compared = ['const', 'enum', 'required', 'dependentRequired', 'dependencies'];

/** The cost of a subschema. */
export function costOf(schema: Readonly<Record<string, unknown>>): Cost {
  const counted = (names: readonly string[]) => names.filter((name) => Object.hasOwn(schema, name)).length;
  const compares = compared.reduce((sum, name) => sum + sizeOf(schema[name]), 0);
  const { properties = {}, patternProperties = {} } = schema;
  return {
    base: 1 + Math.ceil(compares / 8) + Object.keys(properties as object).length,
    key: counted(loopsOverKeys) + Object.keys(patternProperties as object).length,
    item: counted(loopsOverItems),
    character: counted(loopsOverCharacters) / 8,
  };
}

/** Keywords that only describe, of which no code is made. */
const descriptive = new Set([
  ...[
    'title',
    'description',
    'examples',
    'default',
    'deprecated',
    'readOnly',
    'writeOnly',
    'format',
    '$comment',
  ],
  ...['$schema', '$id', '$anchor', '$defs', 'definitions', 'contentEncoding', 'contentMediaType'],
]);
/** Keywords of which there is code for each name or value that they list, up to the length from which on it is a loop. */
const listing = ['required', 'enum', 'dependentRequired', 'dependencies', 'patternProperties'];
const longestList = 200;
/** A reference is a call, and what it leads to a function of its own. */
const unitsOfReference = 4;

/**
 * How much code a subschema becomes, without its own subschemas: a unit for itself, for each keyword, and for each two of the names and
 * values that a keyword lists.
 */
export function codeOf(schema: Readonly<Record<string, unknown>>): number {
  const keywords = Object.keys(schema).filter((name) => !descriptive.has(name));
  const listed = listing.reduce((sum, name) => sum + listedIn(schema[name]), 0);
  const reference = Object.hasOwn(schema, '$ref') ? unitsOfReference : 0;
  return 1 + keywords.length + reference + Math.ceil(listed / 2);
}

function listedIn(value: unknown): number {
  if (Array.isArray(value)) return Math.min(value.length, longestList);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>(
    (sum, one) => sum + 1 + listedIn(Array.isArray(one) ? one : []),
    0,
  );
}

const sizeOf = (value: unknown): number => (value === undefined ? 0 : JSON.stringify(value).length);

/** The units of checking one value. */
export function unitsOf({ base, key, item, character }: Cost, data: unknown): number {
  if (typeof data === 'string') return base + character * data.length;
  if (Array.isArray(data)) return base + item * data.length;
  if (key > 0 && typeof data === 'object' && data !== null) return base + key * Object.keys(data).length;
  return base;
}
