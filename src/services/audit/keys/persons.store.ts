import type { Sql } from '../../../db/index.ts';
import { byteArray } from '../byte-arrays.store.ts';
import type { SealedKey } from './sealed-keys.ts';

/** A person of a tenant and app, by reference. */
export interface Person {
  readonly tenant: string;
  readonly app: string;
  readonly ref: Buffer;
}

/** The key of a person. */
export interface SealedPersonKey extends SealedKey {
  readonly app_id: string;
  readonly ref: Buffer;
}

/** Every statement about the keys of persons. */
export const personStore = (sql: Sql) => ({
  /** Locks the keys of these persons against erasure, in their order, so that no two statements wait for each other. */
  async lock(persons: readonly Person[]): Promise<SealedPersonKey[]> {
    return await sql<SealedPersonKey[]>`
      select tenant_id, app_id, ref, wrapped as sealed
      from audit.subject_keys join ${given(sql, persons)} using (tenant_id, app_id, ref)
      order by tenant_id, app_id, ref for key share of subject_keys`;
  },

  /** Gives keys to those who have none, in their order. */
  async insert(keys: readonly (Person & { readonly sealed: Uint8Array })[]): Promise<void> {
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
          keys.map(({ sealed }) => sealed),
        )}::bytea[]
      ) as given(tenant_id, app_id, ref, wrapped)
      order by tenant_id, app_id, ref
      on conflict on constraint subject_keys_pkey do nothing`;
  },

  /**
   * Destroys the key of a person, for whom there is none until the end of the transaction. Returns it, if there was one. Whoever has no
   * key gets an empty one first: this waits for a transaction that is just giving the person a key, which would survive otherwise, and
   * holds the row against another erasure.
   */
  async delete({ tenant, app, ref }: Person): Promise<Buffer | undefined> {
    const [row] = await sql<[{ sealed: Buffer }]>`
      insert into audit.subject_keys as held (tenant_id, app_id, ref, wrapped) values (${tenant}, ${app}, ${ref}, '')
      on conflict on constraint subject_keys_pkey do update set wrapped = held.wrapped
      returning wrapped as sealed`;
    await sql`delete from audit.subject_keys where tenant_id = ${tenant} and app_id = ${app} and ref = ${ref}`;
    return row.sealed.length === 0 ? undefined : row.sealed;
  },

  /** The keys of persons of a tenant and app, as far as there are any. */
  async some(tenant: string, app: string, refs: readonly Buffer[]): Promise<SealedPersonKey[]> {
    return await sql<SealedPersonKey[]>`
      select tenant_id, app_id, ref, wrapped as sealed from audit.subject_keys
      where tenant_id = ${tenant} and app_id = ${app} and ref = any(${byteArray(sql, refs)}::bytea[])`;
  },

  /** Some of the keys that the master key with this id sealed, in the order of the table, after one of them. */
  async sealedBy(
    masterKeyId: Buffer,
    after: SealedPersonKey | undefined,
    most: number,
  ): Promise<SealedPersonKey[]> {
    return await sql<SealedPersonKey[]>`
      select tenant_id, app_id, ref, wrapped as sealed from audit.subject_keys
      where substring(wrapped from 2 for 4) = ${masterKeyId}
        ${after === undefined ? sql`` : sql`and (tenant_id, app_id, ref) > (${after.tenant_id}, ${after.app_id}, ${after.ref})`}
      order by tenant_id, app_id, ref limit ${most}`;
  },

  /** Replaces sealed keys. One that was destroyed meanwhile does not come back. */
  async replace(keys: readonly (SealedPersonKey & { readonly anew: Buffer })[]): Promise<void> {
    const bytes = (of: (key: (typeof keys)[number]) => Buffer) => byteArray(sql, keys.map(of));
    await sql`
      update audit.subject_keys as held set wrapped = given.anew
      from unnest(
        ${keys.map(({ tenant_id }) => tenant_id)}::text[], ${keys.map(({ app_id }) => app_id)}::text[],
        ${bytes(({ ref }) => ref)}::bytea[], ${bytes(({ sealed }) => sealed)}::bytea[], ${bytes(({ anew }) => anew)}::bytea[]
      ) as given(tenant_id, app_id, ref, sealed, anew)
      where held.tenant_id = given.tenant_id and held.app_id = given.app_id and held.ref = given.ref and held.wrapped = given.sealed`;
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
