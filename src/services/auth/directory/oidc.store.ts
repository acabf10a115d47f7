import type { Sql } from '../../../db/index.ts';

/** A record of the OAuth library, found by a secret. */
export interface OidcRow {
  readonly model: string;
  /** SHA-256 of the id, which is the secret. */
  readonly id_hash: Buffer;
  readonly payload: object;
  readonly grant_id: string | null;
  readonly uid: string | null;
  readonly session_uid: string | null;
  readonly user_id: string | null;
  readonly client_id: string | null;
  readonly tenant_id: string | null;
  /** SHA-256 of the code that a user types to approve a device. */
  readonly user_code_hash: Buffer | null;
}

export interface FoundOidc {
  readonly payload: Record<string, unknown>;
  /** Milliseconds since the record was used; null before. */
  readonly consumed_ago: number | null;
}

/** An access token that is about to be signed. */
export interface IssuedToken extends Omit<OidcRow, 'uid' | 'tenant_id' | 'client_id' | 'user_code_hash'> {
  readonly tenant_id: string;
  readonly client_id: string;
  readonly expires_in: number;
  /** Hash of the grant that the token is issued from; null if the client acts for itself. */
  readonly grant_hash: Buffer | null;
}

export interface IssuedAs {
  /** The browser session that the token ends with. */
  readonly sid: string | null;
  readonly org_id: string | null;
  /** Milliseconds since 1970, by the database's clock. */
  readonly iat_ms: number;
}

/** Every statement about records of the OAuth library. Expired records count as absent. */
export const oidcStore = (sql: Sql) => ({
  async find(model: string, hash: Buffer): Promise<FoundOidc | undefined> {
    const [found] = await sql<FoundOidc[]>`
      select payload, ${consumedAgo(sql)} as consumed_ago
      from auth.oidc
      where model = ${model} and id_hash = ${hash} and ${isLive(sql)}`;
    return found;
  },

  async findByUid(model: string, uid: string): Promise<FoundOidc | undefined> {
    const [found] = await sql<FoundOidc[]>`
      select payload, ${consumedAgo(sql)} as consumed_ago
      from auth.oidc
      where model = ${model} and uid = ${uid} and ${isLive(sql)}`;
    return found;
  },

  async findByUserCode(hash: Buffer): Promise<FoundOidc | undefined> {
    const [found] = await sql<FoundOidc[]>`
      select payload, ${consumedAgo(sql)} as consumed_ago
      from auth.oidc
      where user_code_hash = ${hash} and ${isLive(sql)}`;
    return found;
  },

  /** `expiresIn` is in seconds; null keeps the current expiry. */
  async upsert(row: OidcRow, expiresIn: number | null): Promise<void> {
    await sql`
      insert into auth.oidc (
        model, id_hash, payload, grant_id, uid, session_uid, user_id, client_id, tenant_id, user_code_hash, expires_at
      )
      values (
        ${row.model}, ${row.id_hash}, ${row.payload}::jsonb, ${row.grant_id}, ${row.uid}, ${row.session_uid},
        ${row.user_id}, ${row.client_id}, ${row.tenant_id}, ${row.user_code_hash}, now() + ${expiresIn} * interval '1 second'
      )
      on conflict (model, id_hash) do update
      set payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid,
        session_uid = excluded.session_uid, user_id = excluded.user_id, client_id = excluded.client_id,
        tenant_id = excluded.tenant_id, user_code_hash = coalesce(excluded.user_code_hash, oidc.user_code_hash),
        expires_at = excluded.expires_at`;
  },

  /** Stores a person's decision about an authorization; returns false if it is over. `anew` drops the browser's earlier session. */
  async decide(hash: Buffer, result: object, anew: boolean): Promise<boolean> {
    const { count } = await sql`
      update auth.oidc
      set payload = case when ${anew}::boolean then payload - 'session' else payload end
          || jsonb_build_object('result', ${result}::jsonb),
        user_id = case when ${anew}::boolean then null else user_id end
      where model = 'Interaction' and id_hash = ${hash} and ${isLive(sql)}`;
    return count > 0;
  },

  /** Returns true only for the first use. `keptFor`: seconds that the used record is kept; null keeps its expiry. */
  async consume(model: string, hash: Buffer, keptFor: number | null): Promise<boolean> {
    const { count } = await sql`
      update auth.oidc
      set consumed_at = now(),
        payload = case when ${keptFor}::float8 is null then payload else payload - 'exp' end,
        expires_at = coalesce(now() + ${keptFor}::float8 * interval '1 second', expires_at)
      where model = ${model} and id_hash = ${hash} and consumed_at is null and ${isLive(sql)}`;
    return count > 0;
  },

  /** Returns false if it was used before and is still remembered: a single statement, so of two concurrent calls only one is first. */
  async useOnce(hash: Buffer, seconds: number): Promise<boolean> {
    const { count } = await sql`
      insert into auth.oidc (model, id_hash, payload, expires_at)
      values ('Used', ${hash}, '{}'::jsonb, now() + ${seconds} * interval '1 second')
      on conflict (model, id_hash) do update set expires_at = excluded.expires_at
      where oidc.expires_at <= now()`;
    return count > 0;
  },

  /** Returns false if the record did not exist. */
  async delete(model: string, hash: Buffer): Promise<boolean> {
    const { count } = await sql`delete from auth.oidc where model = ${model} and id_hash = ${hash}`;
    return count > 0;
  },

  /**
   * Records an access token before it is signed, and that the grant was used. Returns undefined if the grant, the browser session
   * or the client has ended; a transaction that ends one of them waits for this statement or is seen by it.
   */
  async issue(token: IssuedToken): Promise<IssuedAs | undefined> {
    const [issued] = await sql<IssuedAs[]>`
      with source as materialized (${sourceOf(sql, token)}), used as (
        update auth.oidc set payload = payload || jsonb_build_object('last_used_at', now())
        where model = 'Consent' and tenant_id = ${token.tenant_id} and user_id = ${token.user_id}
          and client_id = ${token.client_id}
          and coalesce((payload ->> 'last_used_at')::timestamptz, '-infinity') < now() - interval '1 minute'
      ), noted as (
        insert into auth.oidc (
          model, id_hash, payload, grant_id, session_uid, user_id, client_id, tenant_id, expires_at
        )
        select
          ${token.model}::text, ${token.id_hash}::bytea, ${token.payload}::jsonb, ${token.grant_id}::text,
          ${token.session_uid}::text, ${token.user_id}::text, ${token.client_id}::text, ${token.tenant_id}::text,
          now() + ${token.expires_in} * interval '1 second'
        from source
      )
      select sid, org_id, floor(extract(epoch from clock_timestamp()) * 1000)::float8 as iat_ms
      from source`;
    return issued;
  },

  /** Ends a grant with all its tokens; returns its user and client, or undefined when there is none. */
  async deleteGrant(
    grantId: string,
    hash: Buffer,
  ): Promise<{ user_id: string; client_id: string } | undefined> {
    const [grant] = await sql<{ user_id: string; client_id: string }[]>`
      select user_id, client_id from auth.oidc where model = 'Grant' and id_hash = ${hash} for update`;
    await sql`delete from auth.oidc where grant_id = ${grantId}`;
    return grant;
  },

  /** Deletes up to `limit` expired rows; returns how many. */
  async forget(limit: number): Promise<number> {
    const { count } = await sql`
      delete from auth.oidc
      where (model, id_hash) in (
        select model, id_hash from auth.oidc where expires_at < now() limit ${limit}
      )`;
    return count;
  },
});

/** Selects one row if the token's source has not ended, locked so that it cannot end meanwhile. */
function sourceOf(sql: Sql, { grant_hash, session_uid, tenant_id, client_id }: IssuedToken) {
  if (grant_hash === null)
    return sql`
      select null::text as sid, null::text as org_id from auth.clients
      where tenant_id = ${tenant_id} and id = ${client_id} for key share`;
  if (session_uid === null)
    return sql`
      select null::text as sid, null::text as org_id from auth.oidc
      where model = 'Grant' and id_hash = ${grant_hash} and ${isLive(sql)} for key share`;
  return sql`
    select sessions.id as sid, sessions.org_id
    from auth.oidc
    join auth.sessions on sessions.oidc_uid = ${session_uid} and sessions.tenant_id = ${tenant_id}
    where oidc.model = 'Grant' and oidc.id_hash = ${grant_hash} and ${isLive(sql)}
      and sessions.revoked_at is null and sessions.refresh_expires_at > now()
    for share of sessions for key share of oidc`;
}

const isLive = (sql: Sql) => sql`(oidc.expires_at is null or oidc.expires_at > now())`;

const consumedAgo = (sql: Sql) => sql`extract(epoch from now() - consumed_at)::float8 * 1000`;
