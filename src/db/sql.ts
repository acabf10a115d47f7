import postgres from 'postgres';
import { arrayText, parseArray } from './arrays.ts';

/**
 * The tag with which statements are written: of the connection pool, or of the transaction that `Database.transaction` passes.
 * Objects and arrays are accepted where the statement expects jsonb.
 */
export type Sql = postgres.ISql<{ json: object }>;
/** The pool itself, which can be closed. Only `src/db` sees it. */
export type Pool = postgres.Sql<{ json: object }>;

/** Converts values between the database and JavaScript, the same way on both engines. */
const types = {
  bigint: { to: 20, from: [20], serialize: String, parse: integer },
  timestamp: { to: 1184, from: [1184], serialize: instant, parse: timestamp },
  text: { to: 25, from: [1082, 1114], serialize: String, parse: (text: string) => text },
};

/** Settings of postgres.js for all connections. */
export const connectionOptions = {
  types,
  onnotice() {},
  // The driver would query array types when it connects, and a connection that is lost during that query would end the process.
  fetch_types: false,
  connection: { application_name: 'plinth', TimeZone: 'UTC', DateStyle: 'ISO' },
} as const;

export function createPool(options: object, url?: string): Pool {
  const all = { ...connectionOptions, ...options };
  const pool = (url === undefined ? postgres(all) : postgres(url, all)) as unknown as Pool;
  knowArrays(pool.options as unknown as DriverTypes);
  return pool;
}

/** The type information of the driver, by type number. */
interface DriverTypes {
  readonly shared: { readonly typeArrayMap: Record<number, number> };
  readonly parsers: Record<number, (text: string) => unknown>;
  readonly serializers: Record<number, (value: unknown) => unknown>;
}

/** Pairs of an element type and its array type: boolean, bytea, bigint, integer, text, double precision, timestamptz. */
const arrayTypes = [
  [16, 1000],
  [17, 1001],
  [20, 1016],
  [23, 1007],
  [25, 1009],
  [701, 1022],
  [1184, 1185],
] as const;

/** Registers the array types that statements use; the driver knows none by itself. */
function knowArrays({ shared, parsers, serializers }: DriverTypes): void {
  for (const [element, array] of arrayTypes) {
    const [parse = String, write = String] = [parsers[element], serializers[element]];
    shared.typeArrayMap[element] = array;
    parsers[array] = (text) => parseArray(text, parse);
    serializers[array] = (values) => arrayText(values, (value) => String(write(value)));
  }
}

/** Converts `2026-11-20 09:30:00.123456+00` to `2026-11-20T09:30:00.123Z`. A value such as `infinity` stays unchanged. */
export function timestamp(text: string): string {
  if (!common.test(text)) return uncommon(text);
  const fraction = text.length === 22 ? '000' : text.slice(20, -3).padEnd(3, '0').slice(0, 3);
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
}

const common = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00$/;

function uncommon(text: string): string {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,6})?)([+-]\d\d)(?::?(\d\d))?/.exec(text);
  if (match === null || text.endsWith('BC')) return text;
  return new Date(`${match[1]}T${match[2]}${match[3]}:${match[4] ?? '00'}`).toISOString();
}

function instant(value: string | Date): string {
  return value instanceof Date ? value.toISOString() : value;
}

function integer(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`integer out of the range of numbers: ${text}`);
  return value;
}
