import type { EventType } from '../../../../generated/webhooks/types.ts';
import type { Sql } from '../../../db/index.ts';
import { largeRows } from '../../../db/large-rows.ts';
import { followsPrevious, onePage, type Order, type Window } from '../../../db/lists.ts';
import { EventTypeNotFound } from '../errors.ts';
import type { EventTypeTerms } from './event-type-terms.ts';
import type { PlatformType } from './platform-types.ts';

/** The order of the catalogue. */
export const byName = { columns: { name: 'string' }, direction: 'asc' } as const satisfies Order;

export interface EventTypeFilter {
  readonly group: string | undefined;
  readonly deprecated: boolean;
  /** Types to list although they are not registered. */
  readonly platform: readonly PlatformType[];
}

/** What acceptance needs to know of a type. */
export interface JudgedType {
  readonly app_id: string;
  readonly name: string;
  readonly schema_hash: string | null;
  readonly deprecated: boolean;
}

/** Every statement about event types. */
export const eventTypeStore = (sql: Sql) => ({
  /** Replaces an existing type as a whole and revives it. */
  async put(app: string, name: string, terms: EventTypeTerms): Promise<void> {
    const { schema, example, ...texts } = terms;
    await sql`
      insert into webhooks.event_type as existing
        (app_id, name, description, "group", version, schema, schema_hash, example)
      values (${app}, ${name}, ${texts.description}, ${texts.group}, ${texts.version}, ${schema}::text::json,
        ${texts.schema_hash}, ${example}::text::json)
      on conflict on constraint event_type_pkey do update
      set description = excluded.description, "group" = excluded."group", version = excluded.version, schema = excluded.schema,
        schema_hash = excluded.schema_hash, example = excluded.example, deprecated_at = null, updated_at = now()`;
  },

  /** Changes the given terms and revives the type. */
  async update(
    app: string,
    name: string,
    { schema, example, ...texts }: Partial<EventTypeTerms>,
  ): Promise<void> {
    await sql`
      update webhooks.event_type
      set ${sql({ ...texts, deprecated_at: null })}, updated_at = now()
        ${schema === undefined ? sql`` : sql`, schema = ${schema}::text::json`}
        ${example === undefined ? sql`` : sql`, example = ${example}::text::json`}
      where app_id = ${app} and name = ${name}`;
  },

  /** Refuses new events of the type. Returns false for one that was deprecated before. */
  async deprecate(app: string, name: string): Promise<boolean> {
    const { count } = await sql`
      update webhooks.event_type set deprecated_at = now(), updated_at = now()
      where app_id = ${app} and name = ${name} and deprecated_at is null`;
    return count > 0;
  },

  async find(app: string, name: string): Promise<EventType | undefined> {
    const [type] = await sql<EventType[]>`
      select ${columns(sql)} from webhooks.event_type where app_id = ${app} and name = ${name}`;
    return type;
  },

  async get(app: string, name: string): Promise<EventType> {
    const type = await this.find(app, name);
    if (!type) throw EventTypeNotFound(name);
    return type;
  },

  /** Locks the type for the rest of the transaction. */
  async lock(app: string, name: string): Promise<void> {
    const [type] = await sql`
      select name from webhooks.event_type where app_id = ${app} and name = ${name} for update`;
    if (!type) throw EventTypeNotFound(name);
  },

  /** Lists types by name, one more than `limit` when more follow, and where the next page goes on if this one is cut. */
  async list(
    app: string,
    filter: EventTypeFilter,
    window: Window<typeof byName>,
  ): Promise<{ rows: EventType[]; cut: EventType | undefined }> {
    const { group, deprecated, platform } = filter;
    const page = sql`
      select * from (
        select ${columns(sql)} from webhooks.event_type where app_id = ${app}
        union all
        ${platformTypes(sql, app, platform)}
      ) as listed
      where true
        ${group === undefined ? sql`` : sql`and "group" = ${group}`}
        ${deprecated ? sql`` : sql`and not deprecated`}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
    return await largeRows<EventType>(sql, window.order, page, {
      of: sql`coalesce(octet_length(schema::text), 0) + coalesce(octet_length(example::text), 0)`,
    });
  },

  /** Which of these types, given as parallel columns, are registered, and with which schema. */
  async judged(apps: readonly string[], names: readonly string[]): Promise<JudgedType[]> {
    return await sql<JudgedType[]>`
      select app_id, name, schema_hash, deprecated_at is not null as deprecated
      from unnest(${[...apps]}::text[], ${[...names]}::text[]) as asked(app_id, name)
      join webhooks.event_type using (app_id, name)`;
  },

  /** The schema with this hash; undefined when the type has another one by now. */
  async schema(app: string, name: string, hash: string): Promise<Record<string, unknown> | undefined> {
    const [type] = await sql<{ schema: Record<string, unknown> }[]>`
      select schema from webhooks.event_type where app_id = ${app} and name = ${name} and schema_hash = ${hash}`;
    return type?.schema;
  },
});

const columns = (sql: Sql) => sql`
  name, description, "group", version, schema, example, deprecated_at is not null as deprecated, deprecated_at, created_at, updated_at`;

/** The types of the platform that the app has not registered, as rows of the catalogue. They exist since the platform's first day. */
const platformTypes = (sql: Sql, app: string, types: readonly PlatformType[]) => sql`
  select name collate "C", description, split_part(name, '.', 1) collate "C", '2026-11-20', null::json, null::json, false,
    null::timestamptz, timestamptz '2026-11-20', timestamptz '2026-11-20'
  from unnest(${types.map(({ name }) => name)}::text[], ${types.map(({ description }) => description)}::text[]) as given(name, description)
  where not exists (
    select from webhooks.event_type as registered where registered.app_id = ${app} and registered.name = given.name collate "C"
  )`;
