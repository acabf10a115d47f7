import type { Sql } from '../../../db/index.ts';

/** Every statement about recovery codes. */
export const recoveryCodeStore = (sql: Sql) => ({
  /** Replaces the user's set. */
  async replace(tenant: string, userId: string, hashes: readonly Buffer[]): Promise<void> {
    await sql`delete from auth.recovery_codes where tenant_id = ${tenant} and user_id = ${userId}`;
    if (hashes.length === 0) return;
    await sql`
      insert into auth.recovery_codes (tenant_id, user_id, hash)
      select ${tenant}, ${userId}, unnest(${sql.array([...hashes])}::bytea[])`;
  },

  /** Consumes a code; only one of several concurrent callers gets it. */
  async consume(tenant: string, userId: string, hash: Buffer): Promise<boolean> {
    const { count } = await sql`
      delete from auth.recovery_codes
      where tenant_id = ${tenant} and user_id = ${userId} and hash = ${hash}`;
    return count > 0;
  },
});
