import type { Sql } from '../../../db/index.ts';

/** Every statement that removes a user's ways to get in. */
export const userEndings = (sql: Sql) => ({
  /**
   * Ends the user's grants to clients, with the tokens issued from them. The provider's browser sessions end with those of the
   * platform, which know which clients to notify.
   */
  async endGrants(tenant: string, userId: string): Promise<void> {
    await sql`
      delete from auth.oidc where tenant_id = ${tenant} and user_id = ${userId} and model <> 'Session'`;
  },

  /** Ends the sign-ins that wait for a factor: their first proof no longer counts. */
  async endChallenges(tenant: string, userId: string): Promise<void> {
    await sql`delete from auth.challenges where tenant_id = ${tenant} and user_id = ${userId}`;
  },

  /** Removes second factors, recovery codes and sign-ins that wait for a factor; returns the methods that were verified. */
  async endFactors(tenant: string, userId: string): Promise<string[]> {
    await sql`delete from auth.recovery_codes where tenant_id = ${tenant} and user_id = ${userId}`;
    await userEndings(sql).endChallenges(tenant, userId);
    const removed = await sql<{ method: string; verified: boolean }[]>`
      delete from auth.enrollments where tenant_id = ${tenant} and user_id = ${userId} returning method, verified`;
    return removed.filter(({ verified }) => verified).map(({ method }) => method);
  },

  /** Voids the links that were mailed to the user. */
  async voidTokens(tenant: string, app: string, userId: string): Promise<void> {
    await sql`
      delete from auth.one_time
      where tenant_id = ${tenant} and app_id = ${app} and purpose in ('verify_email', 'reset_password')
        and subject = ${userId}`;
  },
});
