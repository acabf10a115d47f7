import type { MfaMethod } from '../../../generated/auth/types.ts';
import type { Sql } from '../../db/index.ts';

export interface NewChallenge {
  readonly tenant_id: string;
  readonly hash: Buffer;
  readonly app_id: string;
  readonly user_id: string;
  /** How the first factor was proven. */
  readonly method: string;
  readonly device_id: string | null;
}

/** Every statement about sign-ins that wait for a second factor. */
export const challengeStore = (sql: Sql) => ({
  /** Answers until when it can be answered. */
  async insert(challenge: NewChallenge): Promise<string> {
    const [{ expires_at }] = await sql<[{ expires_at: string }]>`
      insert into auth.challenges (tenant_id, hash, app_id, user_id, method, device_id, expires_at)
      values (
        ${challenge.tenant_id}, ${challenge.hash}, ${challenge.app_id}, ${challenge.user_id}, ${challenge.method},
        ${challenge.device_id}, now() + interval '5 minutes'
      )
      returning expires_at`;
    return expires_at;
  },

  /** Sign-ins by the old password do not go on with the new one. */
  async deleteOfUser(tenant: string, userId: string): Promise<void> {
    await sql`delete from auth.challenges where tenant_id = ${tenant} and user_id = ${userId}`;
  },

  /** The user's verified factors, and whether recovery codes are left. */
  async factorsOf(tenant: string, userId: string): Promise<{ verified: MfaMethod[]; recovery: boolean }> {
    const [found] = await sql<[{ verified: MfaMethod[]; recovery: boolean }]>`
      select
        array(
          select method from auth.enrollments
          where tenant_id = ${tenant} and user_id = ${userId} and verified
          order by method desc
        ) as verified,
        exists(select from auth.recovery_codes where tenant_id = ${tenant} and user_id = ${userId}) as recovery`;
    return found;
  },
});
