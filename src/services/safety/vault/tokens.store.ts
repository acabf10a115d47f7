import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Sql } from '../../../db/index.ts';
import { ordered } from '../../../lib/ordered.ts';

/** An original that a scan put into the vault, encrypted. */
export interface NewToken {
  readonly tenant_id: string;
  readonly token: string;
  readonly key_id: string;
  readonly name: string;
  readonly digest: Uint8Array;
  readonly sealed: Uint8Array;
  readonly scan_id: string;
  readonly user_id: string;
}

export interface SealedOriginal {
  readonly token: string;
  readonly key_id: string;
  readonly name: string;
  readonly sealed: Uint8Array;
}

/** About how many originals a statement stores or finds. */
const tokensPerStatement = 1_000;

/** Every statement about the originals in the vault. */
export const tokenStore = (sql: Sql) => ({
  /**
   * Stores originals and the scans that refer to them; those that are there already live on. Returns the tokens that stand for
   * another value already. Rows go in the order of their keys, so that processes do not wait for each other in a circle.
   */
  async put(tokens: readonly NewToken[], ttlMs: number): Promise<Set<string>> {
    const sorted = await ordered(tokens, byKey, nextTurn);
    const taken = new Set<string>();
    // Statements of bounded size, between which others of this process go on. All of a token is in one of them.
    for (let from = 0; from < sorted.length;) {
      let end = Math.min(from + tokensPerStatement, sorted.length);
      while (end < sorted.length && keyOf(sorted[end]!) === keyOf(sorted[end - 1]!)) end++;
      for (const token of await this.putSome(sorted.slice(from, end), ttlMs)) taken.add(token);
      from = end;
    }
    return taken;
  },

  /** Stores originals that are in the order of their keys. */
  async putSome(sorted: readonly NewToken[], ttlMs: number): Promise<Set<string>> {
    const once = sorted.filter((token, index) => index === 0 || keyOf(token) !== keyOf(sorted[index - 1]!));
    const stored = await sql<{ tenant_id: string; token: string; digest: Uint8Array; key_id: string }[]>`
      insert into safety.vault_token as existing (tenant_id, token, key_id, name, digest, sealed, expires_at)
      select tenant_id, token, key_id, name, digest, sealed, now() + ${ttlMs}::bigint * interval '1 millisecond'
      from unnest(${once.map((one) => one.tenant_id)}::text[], ${once.map((one) => one.token)}::text[],
        ${once.map((one) => one.key_id)}::text[], ${once.map((one) => one.name)}::text[],
        ${sql.array(once.map((one) => one.digest))}::bytea[], ${sql.array(once.map((one) => one.sealed))}::bytea[])
        as given(tenant_id, token, key_id, name, digest, sealed)
      on conflict on constraint vault_token_pkey do update set
        expires_at = greatest(existing.expires_at, excluded.expires_at),
        -- What was sealed with a destroyed key is lost, and its token is free.
        key_id = case when existing.key_id = excluded.key_id then existing.key_id else excluded.key_id end,
        digest = case when existing.key_id = excluded.key_id then existing.digest else excluded.digest end,
        sealed = case when existing.key_id = excluded.key_id then existing.sealed else excluded.sealed end,
        name = case when existing.key_id = excluded.key_id then existing.name else excluded.name end
      returning tenant_id, token, digest, key_id`;
    const wanted = new Map(once.map((one) => [keyOf(one), Buffer.from(one.digest)]));
    // A token is taken by what is stored, or by another value that comes with it.
    const taken = [...stored, ...sorted].filter((row) => !wanted.get(keyOf(row))!.equals(row.digest));
    await sql`
      insert into safety.vault_ref (tenant_id, token, scan_id, user_id)
      select * from unnest(${sorted.map((one) => one.tenant_id)}::text[], ${sorted.map((one) => one.token)}::text[],
        ${sorted.map((one) => one.scan_id)}::text[], ${sorted.map((one) => one.user_id)}::text[])
      on conflict do nothing`;
    return new Set(taken.map(keyOf));
  },

  /** The living originals behind these tokens. */
  async find(tenant: string, tokens: readonly string[]): Promise<SealedOriginal[]> {
    const found: SealedOriginal[][] = [];
    for (let from = 0; from < tokens.length; from += tokensPerStatement)
      found.push(
        await sql<SealedOriginal[]>`
          select token, key_id, name, sealed from safety.vault_token
          where tenant_id = ${tenant} and token = any(${tokens.slice(from, from + tokensPerStatement)}::text[])
            and expires_at > now()`,
      );
    return found.flat();
  },

  /** Takes the references of a scan or of a user away, and the tokens to which none is left. Returns how many tokens go. */
  async erase(tenant: string, of: { readonly scan: string } | { readonly user: string }): Promise<number> {
    const [{ erased }] = await sql<[{ erased: number }]>`
      with gone as (
        delete from safety.vault_ref
        where tenant_id = ${tenant} ${'scan' in of ? sql`and scan_id = ${of.scan}` : sql`and user_id = ${of.user}`}
        returning token, scan_id
      ), orphans as (
        delete from safety.vault_token as token
        where tenant_id = ${tenant} and token.token in (select token from gone) and not exists (
          select from safety.vault_ref as ref
          where ref.tenant_id = ${tenant} and ref.token = token.token
            and not exists (select from gone where gone.token = ref.token and gone.scan_id = ref.scan_id)
        )
        returning expires_at > now() as lives
      )
      select count(*) filter (where lives)::integer as erased from orphans`;
    return erased;
  },

  /** The number of living originals that a key sealed. */
  async count(tenant: string, keyId: string): Promise<number> {
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*) as count from safety.vault_token
      where tenant_id = ${tenant} and key_id = ${keyId} and expires_at > now()`;
    return count;
  },

  /** Deletes originals that have expired. */
  async dropExpired(batch: number): Promise<number> {
    const { count } = await sql`
      delete from safety.vault_token where (tenant_id, token) in (
        select tenant_id, token from safety.vault_token where expires_at <= now() limit ${batch} for update skip locked
      )`;
    return count;
  },

  /** Deletes originals that were sealed with destroyed keys. */
  async dropUnreadable(batch: number): Promise<number> {
    const { count } = await sql`
      delete from safety.vault_token where (tenant_id, token) in (
        select token.tenant_id, token.token
        from safety.vault_key as key join safety.vault_token as token
          on token.tenant_id = key.tenant_id and token.key_id = key.id
        where key.destroyed_at is not null
        limit ${batch} for update of token skip locked
      )`;
    return count;
  },
});

const byKey = (one: NewToken, other: NewToken) =>
  compared(one.tenant_id, other.tenant_id) || compared(one.token, other.token);

const compared = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);

const keyOf = ({ tenant_id, token }: { readonly tenant_id: string; readonly token: string }) =>
  `${tenant_id} ${token}`;
