/** Lists by name: the records whose names begin with a prefix, as a folder would show them. */
import { decodeCursor, encodeCursor } from '../../lib/cursors.ts';
import { exampleOf, operationOf, parameterSchema } from '../contract/document.ts';
import type { Resource } from '../contract/plans.ts';
import type { Values } from '../contract/values.ts';
import type { Call } from './call.ts';
import type { StoredRecord } from './memory.ts';

/** Returns the member by which a list with prefixes is ordered: the one whose example begins with the prefix's example, else `key`. */
export function orderOf(
  { document, operation }: Pick<Call, 'document' | 'operation'>,
  { example, members }: Resource,
): string | undefined {
  const schema = parameterSchema(document, operationOf(document, operation.id), 'prefix');
  if (!schema) return undefined;
  const prefix = String(exampleOf(document, schema));
  const found = Object.keys(members).find((name) => String(example[name]).startsWith(prefix));
  return found ?? ('key' in members ? 'key' : undefined);
}

/** A record, or an entry for all records whose names begin with this name. */
interface Entry {
  readonly name: string;
  readonly record: StoredRecord | undefined;
}

/** Returns one page in the byte order of names. Names with the delimiter after the prefix become one entry per folder. */
export function folder(request: Values, member: string, records: readonly StoredRecord[], most: number) {
  const { prefix = '', delimiter, start_after: start = '', cursor } = request as Record<string, string>;
  const nameOf = ({ values }: StoredRecord) => String(values[member]);
  const wanted = records.filter(
    (record) => nameOf(record).startsWith(prefix) && follows(nameOf(record), start),
  );
  const entries = new Map<string, Entry>();
  for (const record of wanted) {
    const name = nameOf(record);
    const end = delimiter === undefined ? -1 : name.indexOf(delimiter, prefix.length);
    const entry =
      end < 0 ? { name, record } : { name: name.slice(0, end + delimiter!.length), record: undefined };
    entries.set(entry.name, entry);
  }
  const after = cursor === undefined ? undefined : decodeCursor(cursor, { after: 'string' }).after;
  const rest = [...entries.values()]
    .filter(({ name }) => after === undefined || follows(name, after))
    .sort((one, other) => compare(one.name, other.name));
  const page = rest.slice(0, most);
  const last = page.at(-1);
  return {
    records: page.flatMap(({ record }) => record ?? []),
    prefixes: page.filter(({ record }) => !record).map(({ name }) => name),
    next: last && page.length < rest.length ? encodeCursor({ after: last.name }) : null,
    total: wanted.length,
  };
}

const compare = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));

const follows = (name: string, other: string) => compare(name, other) > 0;
