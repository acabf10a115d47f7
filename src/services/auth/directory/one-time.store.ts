import type { Sql } from '../../../db/index.ts';

export type OneTimePurpose = 'verify_email' | 'reset_password';

/** The purpose that a one-time token was made for. */
export interface OneTime {
  readonly app_id: string;
  /** The user. */
  readonly subject: string;
  /** The address that the token was sent to. */
  readonly email: string;
}

/** Every statement about one-time tokens in messages. */
export const oneTimeStore = (sql: Sql) => ({
  /** Stores a token and voids any older one for the same purpose and user. */
  async replace(
    tenant: string,
    purpose: OneTimePurpose,
    hash: Buffer,
    { app_id, subject, email }: OneTime,
    livesMs: number,
  ): Promise<void> {
    await sql`
      insert into auth.one_time (tenant_id, app_id, purpose, subject, hash, data, expires_at)
      values (
        ${tenant}, ${app_id}, ${purpose}, ${subject}, ${hash}, ${{ email }},
        now() + ${livesMs} * interval '1 millisecond'
      )
      on conflict on constraint one_time_subject do update
      set hash = excluded.hash, data = excluded.data, expires_at = excluded.expires_at, attempts = 0, created_at = now()`;
  },

  async find(tenant: string, purpose: OneTimePurpose, hash: Buffer): Promise<OneTime | undefined> {
    const [found] = await sql<OneTime[]>`
      select app_id, subject, data->>'email' as email
      from auth.one_time
      where tenant_id = ${tenant} and purpose = ${purpose} and hash = ${hash} and expires_at > now()`;
    return found;
  },

  /** Consumes the token; only one of several concurrent callers gets it. */
  async consume(tenant: string, purpose: OneTimePurpose, hash: Buffer): Promise<OneTime | undefined> {
    const [found] = await sql<OneTime[]>`
      delete from auth.one_time
      where tenant_id = ${tenant} and purpose = ${purpose} and hash = ${hash} and expires_at > now()
      returning app_id, subject, data->>'email' as email`;
    return found;
  },

  /** Deletes expired tokens. Returns how many, at most `batch`. */
  async forget(batch: number): Promise<number> {
    const { count } = await sql`
      delete from auth.one_time
      where (tenant_id, app_id, purpose, subject) in (
        select tenant_id, app_id, purpose, subject from auth.one_time
        where expires_at <= now()
        limit ${batch}
      )`;
    return count;
  },

  async void(tenant: string, app: string, purpose: OneTimePurpose, subject: string): Promise<void> {
    await sql`
      delete from auth.one_time
      where tenant_id = ${tenant} and app_id = ${app} and purpose = ${purpose} and subject = ${subject}`;
  },
});
