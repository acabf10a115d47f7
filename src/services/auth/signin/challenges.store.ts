import type { MfaMethod } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import type { SigninMethod } from './signin.ts';

export interface NewChallenge {
  readonly tenant_id: string;
  readonly hash: Buffer;
  readonly app_id: string;
  readonly user_id: string;
  /** The method of the first factor. */
  readonly method: SigninMethod;
  readonly device_id: string | null;
}

/** A sign-in that waits for its second factor and can still be answered. */
export interface OpenChallenge {
  readonly app_id: string;
  readonly user_id: string;
  /** The method of the first factor. */
  readonly method: SigninMethod;
  /** MAC of the last texted code, while it is valid. */
  readonly code_mac: Buffer | null;
}

/** The verified factors of a user, and whether recovery codes are left. */
export interface Factors {
  readonly verified: MfaMethod[];
  readonly recovery: boolean;
}

const mostAttempts = 5;

/** Every statement about sign-ins that wait for a second factor. */
export const challengeStore = (sql: Sql) => ({
  /** Returns when the challenge expires. */
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

  /** Returns undefined if the challenge is unknown, over, or was answered wrongly too often. */
  async open(tenant: string, hash: Buffer): Promise<OpenChallenge | undefined> {
    const [found] = await sql<OpenChallenge[]>`
      select ${openColumns(sql)}
      from auth.challenges
      where tenant_id = ${tenant} and hash = ${hash} and ${isOpen(sql)}`;
    return found;
  },

  /** Stores a texted code in place of an older one. Returns when it expires. */
  async setCode(tenant: string, hash: Buffer, mac: Buffer): Promise<string> {
    const [{ code_expires_at }] = await sql<[{ code_expires_at: string }]>`
      update auth.challenges
      set code_mac = ${mac}, code_expires_at = least(now() + interval '5 minutes', expires_at)
      where tenant_id = ${tenant} and hash = ${hash}
      returning code_expires_at`;
    return code_expires_at;
  },

  /** Counts an answer and returns its challenge; undefined if no more answers are accepted. */
  async attempt(tenant: string, hash: Buffer): Promise<OpenChallenge | undefined> {
    const [found] = await sql<OpenChallenge[]>`
      update auth.challenges set attempts = attempts + 1
      where tenant_id = ${tenant} and hash = ${hash} and ${isOpen(sql)}
      returning ${openColumns(sql)}`;
    return found;
  },

  async delete(tenant: string, hash: Buffer): Promise<void> {
    await sql`delete from auth.challenges where tenant_id = ${tenant} and hash = ${hash}`;
  },

  /** Deletes expired challenges. Returns how many, at most `batch`. */
  async forget(batch: number): Promise<number> {
    const { count } = await sql`
      delete from auth.challenges
      where (tenant_id, hash) in (
        select tenant_id, hash from auth.challenges
        where expires_at <= now()
        limit ${batch}
      )`;
    return count;
  },

  /** The user's verified factors, and whether recovery codes are left. */
  async factorsOf(tenant: string, userId: string): Promise<Factors> {
    const [found] = await sql<[Factors]>`
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

const isOpen = (sql: Sql) => sql`(expires_at > now() and attempts < ${mostAttempts})`;

const openColumns = (sql: Sql) => sql`
  app_id, user_id, method, case when code_expires_at > now() then code_mac end as code_mac`;
