import type { JWK } from 'jose';
import type { SigningAlgorithm, SigningKey, SigningKeyState } from '../../../../../generated/auth/types.ts';
import type { Sql } from '../../../../db/index.ts';

/** A key as it is stored, with the time since it entered each state, in milliseconds by the database's clock. */
export interface StoredKey extends SigningKey {
  readonly published_ms: number;
  readonly active_ms: number | null;
  readonly retired_ms: number | null;
  readonly public_jwk: JWK;
  readonly private_box: Buffer;
}

export interface NewKey {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly public_jwk: JWK;
  readonly private_box: Buffer;
}

/** Every statement about signing keys. They belong to the whole platform, so there is no tenant condition. */
export const signingKeyStore = (sql: Sql) => ({
  /** The holder of the lock is the only one who changes keys until the end of its transaction. */
  async lock(): Promise<void> {
    await sql`select pg_advisory_xact_lock(hashtextextended('auth.signing_keys', 0))`;
  },

  /** All keys, newest first. */
  async list(): Promise<StoredKey[]> {
    return await sql<StoredKey[]>`
      select
        kid, alg, state, created_at, retired_at + interval '7 days' as not_after, public_jwk, private_box,
        ${since(sql, 'created_at')} as published_ms,
        ${since(sql, 'activated_at')} as active_ms,
        ${since(sql, 'retired_at')} as retired_ms
      from auth.signing_keys
      order by created_at desc, kid`;
  },

  async insert({ kid, alg, public_jwk, private_box }: NewKey, state: SigningKeyState): Promise<void> {
    await sql`
      insert into auth.signing_keys (kid, alg, state, public_jwk, private_box, activated_at)
      values (
        ${kid}, ${alg}, ${state}, ${public_jwk as object}::jsonb, ${private_box},
        case when ${state}::text = 'active' then now() end
      )`;
  },

  async activate(kid: string): Promise<void> {
    await sql`update auth.signing_keys set state = 'active', activated_at = now() where kid = ${kid}`;
  },

  async retire(kid: string): Promise<void> {
    await sql`update auth.signing_keys set state = 'retired', retired_at = now() where kid = ${kid}`;
  },

  async remove(kid: string): Promise<void> {
    await sql`delete from auth.signing_keys where kid = ${kid}`;
  },
});

const since = (sql: Sql, column: string) => sql`(extract(epoch from now() - ${sql(column)}) * 1000)::float8`;
