import type { Sql } from '../../../db/index.ts';
import { byteArray } from '../byte-arrays.ts';

/** A person of a tenant and app, by reference. */
export interface Person {
  readonly tenant: string;
  readonly app: string;
  readonly ref: Uint8Array;
}

export interface WrappedKey {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly ref: Buffer;
  readonly wrapped: Buffer;
}

/** Every statement about the keys of persons. */
export const personStore = (sql: Sql) => ({
  /** Locks the keys of these persons against erasure, in their order, so that no two statements wait for each other. */
  async lock(persons: readonly Person[]): Promise<WrappedKey[]> {
    return await sql<WrappedKey[]>`
      select tenant_id, app_id, ref, wrapped
      from audit.subject_keys join ${given(sql, persons)} using (tenant_id, app_id, ref)
      order by tenant_id, app_id, ref for key share of subject_keys`;
  },

  /** The keys of those of these persons who were not erased. */
  async list(persons: readonly Person[]): Promise<WrappedKey[]> {
    return await sql<WrappedKey[]>`
      select tenant_id, app_id, ref, wrapped
      from audit.subject_keys join ${given(sql, persons)} using (tenant_id, app_id, ref)`;
  },

  /** Gives keys to those who have none, in their order. */
  async insert(keys: readonly (Person & { readonly wrapped: Uint8Array })[]): Promise<void> {
    await sql`
      insert into audit.subject_keys (tenant_id, app_id, ref, wrapped)
      select tenant_id, app_id, ref, wrapped
      from unnest(
        ${keys.map(({ tenant }) => tenant)}::text[], ${keys.map(({ app }) => app)}::text[],
        ${byteArray(
          sql,
          keys.map(({ ref }) => ref),
        )}::bytea[], ${byteArray(
          sql,
          keys.map(({ wrapped }) => wrapped),
        )}::bytea[]
      ) as given(tenant_id, app_id, ref, wrapped)
      order by tenant_id, app_id, ref
      on conflict on constraint subject_keys_pkey do nothing`;
  },

  /**
   * Destroys the key of a person, for whom there is none until the end of the transaction. Returns whether there was one. Whoever has no
   * key gets an empty one first: this waits for a transaction that is just giving the person a key, which would survive otherwise, and
   * holds the row against another erasure.
   */
  async delete({ tenant, app, ref }: Person): Promise<boolean> {
    const [row] = await sql<[{ is_key: boolean }]>`
      insert into audit.subject_keys as held (tenant_id, app_id, ref, wrapped) values (${tenant}, ${app}, ${ref}, '')
      on conflict on constraint subject_keys_pkey do update set wrapped = held.wrapped
      returning wrapped <> '' as is_key`;
    await sql`delete from audit.subject_keys where tenant_id = ${tenant} and app_id = ${app} and ref = ${ref}`;
    return row.is_key;
  },
});

const given = (sql: Sql, persons: readonly Person[]) => sql`
  unnest(
    ${persons.map(({ tenant }) => tenant)}::text[], ${persons.map(({ app }) => app)}::text[],
    ${byteArray(
      sql,
      persons.map(({ ref }) => ref),
    )}::bytea[]
  ) as given(tenant_id, app_id, ref)`;
