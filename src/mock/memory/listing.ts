/** Lists: filters a collection, orders it, and returns one page. */
import { decodeCursor, encodeCursor } from '../../lib/cursors.ts';
import { operationOf, parameterSchema, resolve, type Schema } from '../contract/document.ts';
import type { Deed, Resource } from '../contract/plans.ts';
import { counted } from '../contract/shapes.ts';
import { successOf } from '../contract/success.ts';
import type { Values } from '../contract/values.ts';
import type { Call, Outcome } from './call.ts';
import { folder, orderOf } from './folders.ts';
import type { StoredRecord } from './memory.ts';
import { isIn, type Step } from './steps.ts';

/** One page and its figures. */
interface Page {
  readonly records: readonly StoredRecord[];
  /** Prefixes of names whose records are not shown themselves. */
  readonly prefixes?: readonly string[];
  /** Start of the next page, or null when none follows. */
  readonly next: string | null;
  /** Number of records on all pages. */
  readonly total: number;
}

export function list(call: Call, deed: Extract<Deed, { does: 'list' }>, steps: readonly Step[]): Outcome {
  const { resource, path, member, shown } = deed;
  const { status, schema, example } = successOf(call.document, call.operation);
  const isWanted = filterOf(call, resource);
  const matching = call.store
    .records(resource)
    .filter((record) => isIn(record, resource, path, steps) && isWanted(record));
  const { limit = Infinity, offset = 0 } = call.request as { limit?: number; offset?: number };
  const most = Math.min(limit, mostOf(call, schema, member));
  const page = pageOf(call, resource, matching, most);
  const found = page.records.map(({ values }) => (shown ? only(values, shown) : values));
  const { next, total, prefixes } = page;
  const figures = {
    ...{ total, limit, offset, has_more: next !== null, truncated: next !== null },
    ...{ next_cursor: next, cursor: next },
    ...(prefixes ? { prefixes } : {}),
  };
  const body = member === undefined ? found : { ...counted(example, figures), [member]: found };
  const tells = call.operation.responses.some(({ headers }) => headers.includes('X-Next-Cursor'));
  return { status, body, headers: (headers) => withNext(headers, tells ? next : null) };
}

function pageOf(call: Call, resource: Resource, matching: readonly StoredRecord[], most: number): Page {
  const member = orderOf(call, resource);
  if (member !== undefined) return folder(call.request, member, matching, most);
  const { offset = 0, cursor } = call.request as { offset?: number; cursor?: string };
  const before = cursor === undefined ? undefined : decodeCursor(cursor, { before: 'number' }).before;
  const rest = before === undefined ? matching.slice(offset) : matching.filter(({ seq }) => seq < before);
  const records = rest.slice(0, most);
  const last = records.at(-1);
  const more = records.length < rest.length && last !== undefined;
  return { records, next: more ? encodeCursor({ before: last.seq }) : null, total: matching.length };
}

/** Builds the question whether a record matches the query, and the path parameters beyond its items. */
function filterOf(call: Call, resource: Resource): (record: StoredRecord) => boolean {
  const { search } = call.request;
  const filters = call.operation.parameters.flatMap(({ in: place, name, array }) => {
    const wanted = call.request[name];
    const member =
      place === 'query' ? filtered(resource, name, array) : memberInPath(call, place, name, resource);
    if (wanted === undefined || member === undefined || !(member in resource.members)) return [];
    const values = [wanted].flat().map((one: unknown) => idOf(call, resource, member, one));
    return [{ member, values }];
  });
  return ({ values }) =>
    (typeof search !== 'string' || contains(values, search)) &&
    filters.every(({ member, values: wanted }) => {
      const value = values[member];
      return Array.isArray(value)
        ? wanted.every((one) => value.includes(one))
        : wanted.some((one) => value === one);
    });
}

/** The member that a parameter filters: several values of `tag` ask for several `tags`. */
const filtered = ({ members }: Resource, name: string, array: boolean | undefined): string =>
  array === true && !(name in members) ? `${name}s` : name;

/** Returns the id of the record that a filter names by its id or by another of its names. */
function idOf({ store }: Call, { members }: Resource, member: string, name: unknown): unknown {
  const kind = members[member]!.$ref;
  const item = store.items.find(
    ({ resource }) => kind !== undefined && resource.members['id']?.$ref === kind,
  );
  const record =
    member !== 'id' && item
      ? store.records(item.resource).find(({ values }) => item.keys.some((key) => values[key] === name))
      : undefined;
  return record ? record.values['id'] : name;
}

/** Whether a text of the record contains the words, ignoring case. */
const contains = (values: Values, words: string): boolean =>
  Object.values(values).some(
    (value) => typeof value === 'string' && value.toLowerCase().includes(words.toLowerCase()),
  );

function memberInPath(
  { document, operation, plan }: Call,
  place: string,
  name: string,
  { members }: Resource,
): string | undefined {
  if (place !== 'path' || plan.within.some(({ parameter }) => parameter === name)) return undefined;
  const schema = parameterSchema(document, operationOf(document, operation.id), name);
  return Object.keys(members).find((member) => members[member]!.$ref === schema?.$ref);
}

/** Maximum number of records in a list. */
function mostOf({ document }: Call, schema: Schema | undefined, member: string | undefined): number {
  const whole = schema && resolve(document, schema);
  const records = member === undefined ? whole : whole?.properties?.[member];
  const most = records && resolve(document, records)['maxItems'];
  return typeof most === 'number' ? most : Infinity;
}

const only = (values: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.map((name) => [name, values[name]]));

function withNext(
  { 'X-Next-Cursor': _example, ...headers }: Readonly<Record<string, string>>,
  next: string | null,
) {
  return next === null ? headers : { ...headers, 'X-Next-Cursor': next };
}
