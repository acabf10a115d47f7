import postgres from 'postgres';

/**
 * What statements are written with: the connection pool, or the transaction that `Database.transaction` hands out. Objects
 * and arrays are accepted where the statement expects jsonb.
 */
export type Sql = postgres.ISql<{ json: object }>;
/** The pool itself: what can begin and end. Only `src/db` sees it. */
export type Pool = postgres.Sql<{ json: object }>;

/** Reads values as the wire writes them, on both engines. */
const types = {
  bigint: { to: 20, from: [20], serialize: String, parse: integer },
  timestamp: { to: 1184, from: [1184], serialize: instant, parse: timestamp },
  text: { to: 25, from: [1082, 1114], serialize: String, parse: (text: string) => text },
};

/** Settings of postgres.js that every connection of ours has. */
export const connectionOptions = {
  types,
  onnotice() {},
  connection: { application_name: 'plinth', TimeZone: 'UTC', DateStyle: 'ISO' },
} as const;

export function createPool(options: object, url?: string): Pool {
  const all = { ...connectionOptions, ...options };
  return (url === undefined ? postgres(all) : postgres(url, all)) as unknown as Pool;
}

/** `2026-11-20 09:30:00.123456+00` as `2026-11-20T09:30:00.123Z`. Values that have no such form, as `infinity`, stay as they are. */
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
