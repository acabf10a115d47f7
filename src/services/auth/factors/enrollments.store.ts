import type { MfaMethod } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';

/** A second factor as it is stored. */
export interface StoredEnrollment {
  readonly id: string;
  readonly method: MfaMethod;
  readonly verified: boolean;
  /** The full number; null for `totp`. */
  readonly phone: string | null;
  /** The sealed secret; null for `sms`. */
  readonly secret_box: Buffer | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

export interface NewEnrollment extends Pick<StoredEnrollment, 'id' | 'method' | 'phone' | 'secret_box'> {
  readonly tenant_id: string;
  readonly user_id: string;
  /** Hashes of the recovery codes that become valid once the factor is verified. */
  readonly pending_codes: readonly Buffer[];
}

/** Every statement about second factors. One that is not verified within an hour counts as absent. */
export const enrollmentStore = (sql: Sql) => ({
  /** Stores an unverified factor, replacing an unverified one of the same method. */
  async replaceUnverified({ pending_codes, ...enrollment }: NewEnrollment): Promise<StoredEnrollment> {
    const { tenant_id, user_id, method } = enrollment;
    await sql`
      delete from auth.enrollments
      where tenant_id = ${tenant_id} and user_id = ${user_id} and method = ${method} and not verified`;
    const [inserted] = await sql<[StoredEnrollment]>`
      insert into auth.enrollments (id, tenant_id, user_id, method, phone, secret_box, pending_codes)
      values (
        ${enrollment.id}, ${tenant_id}, ${user_id}, ${method}, ${enrollment.phone}, ${enrollment.secret_box},
        ${sql.array([...pending_codes])}::bytea[]
      )
      returning ${columns(sql)}`;
    return inserted;
  },

  async ofUser(tenant: string, userId: string): Promise<StoredEnrollment[]> {
    return await sql<StoredEnrollment[]>`
      select ${columns(sql)}
      from auth.enrollments
      where tenant_id = ${tenant} and user_id = ${userId}
        and (verified or created_at > now() - interval '1 hour')
      order by created_at, id`;
  },

  /** Verifies a factor. Its recovery codes replace the user's old ones. */
  async verify(tenant: string, userId: string, id: string, step: number | null): Promise<StoredEnrollment> {
    await sql`delete from auth.recovery_codes where tenant_id = ${tenant} and user_id = ${userId}`;
    await sql`
      insert into auth.recovery_codes (tenant_id, user_id, hash)
      select tenant_id, user_id, unnest(pending_codes)
      from auth.enrollments
      where tenant_id = ${tenant} and user_id = ${userId} and id = ${id}`;
    const [verified] = await sql<[StoredEnrollment]>`
      update auth.enrollments
      set verified = true, pending_codes = null, last_step = ${step}, last_used_at = now()
      where tenant_id = ${tenant} and user_id = ${userId} and id = ${id}
      returning ${columns(sql)}`;
    return verified;
  },

  /** Records that the code of a time step was used. Returns false if it, or a later one, was used before. */
  async useStep(tenant: string, userId: string, id: string, step: number): Promise<boolean> {
    const { count } = await sql`
      update auth.enrollments
      set last_step = ${step}, last_used_at = now()
      where tenant_id = ${tenant} and user_id = ${userId} and id = ${id}
        and (last_step is null or last_step < ${step})`;
    return count > 0;
  },

  /** Records that the user answered with the verified factor of this method. */
  async noteUse(tenant: string, userId: string, method: MfaMethod): Promise<void> {
    await sql`
      update auth.enrollments
      set last_used_at = now()
      where tenant_id = ${tenant} and user_id = ${userId} and method = ${method} and verified`;
  },

  async delete(tenant: string, userId: string, ids: readonly string[]): Promise<void> {
    await sql`
      delete from auth.enrollments
      where tenant_id = ${tenant} and user_id = ${userId} and id = any(${sql.array([...ids])}::text[])`;
  },

  /** Deletes factors that were not verified in time. Returns how many, at most `batch`. */
  async forget(batch: number): Promise<number> {
    const { count } = await sql`
      delete from auth.enrollments
      where (tenant_id, id) in (
        select tenant_id, id from auth.enrollments
        where not verified and created_at <= now() - interval '1 hour'
        limit ${batch}
      )`;
    return count;
  },
});

const columns = (sql: Sql) => sql`
  enrollments.id, enrollments.method, enrollments.verified, enrollments.phone, enrollments.secret_box,
  enrollments.created_at, enrollments.last_used_at`;
