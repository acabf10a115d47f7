import type { ListedObject } from '../../../../generated/storage/types.ts';
import type { Fragment, Sql } from '../../../db/index.ts';

export interface ListingRequest {
  readonly prefix: string;
  readonly delimiter: string | undefined;
  /** The last row of the previous page: a key, or a prefix of keys. */
  readonly after: string | undefined;
  /** Only keys after this one. */
  readonly startAfter: string | undefined;
  /** The most objects and prefixes together. */
  readonly limit: number;
}

/** A page of objects, and with a delimiter of the prefixes that group the other keys. */
export interface Listing {
  readonly objects: ListedObject[];
  readonly prefixes: string[];
  /** The last row, when others follow. */
  readonly last: string | undefined;
}

/** A row of a listing; a group of keys has no object. */
type Row = ListedObject & { readonly name: string; readonly is_prefix: boolean };

/** No key has this character, and none comes after it. */
const end = '\u{10ffff}';

/** Every statement that lists objects. */
export const listingStore = (sql: Sql) => ({
  async list(tenant: string, bucketId: string, request: ListingRequest): Promise<Listing> {
    const { delimiter, limit } = request;
    const scope = { tenant, bucketId, upTo: request.prefix + end };
    const rows =
      delimiter === undefined
        ? await this.keys(scope, request)
        : await this.groups(scope, request, delimiter);
    const page = rows.slice(0, limit);
    return {
      objects: page.filter(({ is_prefix }) => !is_prefix).map(objectOf),
      prefixes: page.filter(({ is_prefix }) => is_prefix).map(({ name }) => name),
      last: rows.length > limit ? page.at(-1)!.name : undefined,
    };
  },

  async keys(scope: Scope, { prefix, limit, ...request }: ListingRequest): Promise<Row[]> {
    return await sql<Row[]>`
      select ${listed(sql)}, key as name, false as is_prefix from storage.objects
      where ${inScope(sql, scope)} and key >= ${prefix} and key > ${placeOf(request, prefix)}
      order by key limit ${limit + 1}`;
  },

  /** Seeks each row by its own: the key after the last one, or the first key after all those that the last prefix groups. */
  async groups(
    scope: Scope,
    { prefix, limit, ...request }: ListingRequest,
    delimiter: string,
  ): Promise<Row[]> {
    const length = [...prefix].length;
    const seek = (from: Fragment) => sql`
      select seen.*,
        case when cut > 0 then left(key, ${length}::integer + cut - 1 + length(${delimiter}::text)) else key end as name,
        cut > 0 as is_prefix
      from (
        select ${listed(sql)}, strpos(substr(key, ${length + 1}::integer), ${delimiter}) as cut
        from storage.objects
        where ${inScope(sql, scope)} and key >= ${prefix} and ${from}
        order by key limit 1
      ) as seen`;
    return await sql<Row[]>`
      with recursive page as (
        select 1 as place, first.* from (${seek(sql`key > ${placeOf(request, prefix, delimiter)}`)}) as first
        union all
        select place + 1, next.* from page cross join lateral (
          ${seek(sql`key > (case when page.is_prefix then page.name || ${end} else page.name end) collate "C"`)}
        ) as next
        where place <= ${limit}
      )
      select key, size, last_modified, etag, content_type, name, is_prefix from page order by place`;
  },
});

interface Scope {
  readonly tenant: string;
  readonly bucketId: string;
  readonly upTo: string;
}

const inScope = (sql: Sql, { tenant, bucketId, upTo }: Scope): Fragment =>
  sql`tenant_id = ${tenant} and bucket_id = ${bucketId} and key < ${upTo}`;

const listed = (sql: Sql): Fragment => sql`key, size, last_modified, etag, content_type`;

const objectOf = ({ key, size, last_modified, etag, content_type }: Row): ListedObject => ({
  key,
  size,
  last_modified,
  etag,
  content_type,
});

/** Where a page begins: after a key, or after all keys of the prefix with which the previous page ended. */
function placeOf(
  { after, startAfter = '' }: Pick<ListingRequest, 'after' | 'startAfter'>,
  prefix: string,
  delimiter?: string,
): string {
  if (after === undefined) return startAfter;
  const groups = delimiter !== undefined && after.slice(prefix.length).includes(delimiter);
  return groups ? after + end : after;
}
