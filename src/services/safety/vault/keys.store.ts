import type { Sql } from '../../../db/index.ts';

export interface VaultKeyRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly wrapped: Uint8Array;
}

/** Every statement about the data keys of tenants. */
export const keyStore = (sql: Sql) => ({
  /** The living keys of these tenants. */
  async living(tenants: readonly string[]): Promise<VaultKeyRow[]> {
    return await sql<VaultKeyRow[]>`
      select tenant_id, id, wrapped from safety.vault_key
      where tenant_id = any(${[...tenants]}::text[]) and destroyed_at is null`;
  },

  /** Stores a key, unless the tenant has a living one. */
  async insert({ tenant_id, id, wrapped }: VaultKeyRow): Promise<void> {
    await sql`
      insert into safety.vault_key (tenant_id, id, wrapped) values (${tenant_id}, ${id}, ${wrapped})
      on conflict (tenant_id) where destroyed_at is null do nothing`;
  },

  /** Which of these keys live, and keeps them from being destroyed until the end of the transaction. */
  async hold(ids: readonly string[]): Promise<Set<string>> {
    const rows = await sql<{ id: string }[]>`
      select id from safety.vault_key where id = any(${[...ids]}::text[]) and destroyed_at is null
      order by tenant_id, id for share`;
    return new Set(rows.map(({ id }) => id));
  },

  /** Locks the living key of a tenant against scans that store originals. Returns its id. */
  async lock(tenant: string): Promise<string | undefined> {
    const [row] = await sql<{ id: string }[]>`
      select id from safety.vault_key where tenant_id = ${tenant} and destroyed_at is null for update`;
    return row?.id;
  },

  /** Everything that was sealed with the key is unreadable from the end of the transaction on. */
  async destroy(tenant: string, id: string): Promise<void> {
    await sql`
      update safety.vault_key set wrapped = null, destroyed_at = now()
      where tenant_id = ${tenant} and id = ${id} and destroyed_at is null`;
  },

  /** Keys that the given master key sealed. */
  async sealedBy(masterKeyId: Uint8Array, most: number): Promise<VaultKeyRow[]> {
    return await sql<VaultKeyRow[]>`
      select tenant_id, id, wrapped from safety.vault_key
      where substring(wrapped from 2 for 4) = ${masterKeyId} and wrapped is not null
      limit ${most}`;
  },

  /** Replaces wrappings, except those of keys that were destroyed meanwhile. */
  async rewrap(rows: readonly VaultKeyRow[]): Promise<void> {
    await sql`
      update safety.vault_key as key set wrapped = given.wrapped
      from unnest(${rows.map(({ id }) => id)}::text[], ${sql.array(rows.map(({ wrapped }) => wrapped))}::bytea[])
        as given(id, wrapped)
      where key.id = given.id and key.wrapped is not null`;
  },
});
