import type { Sql } from '../../../db/index.ts';

/** The purpose of a code in a text message: to sign in by phone number, or to prove the number of a second factor. */
export type CodePurpose = 'phone_signin' | 'phone_enrollment';

/** The key under which a code is stored. */
export interface CodePlace {
  readonly tenant: string;
  readonly app: string;
  readonly purpose: CodePurpose;
  /** The id of the user whose enrollment it is, or the MAC of the number. */
  readonly subject: string;
}

const mostAttempts = 5;

/** Every statement about codes in text messages, except those for a challenge. */
export const codeStore = (sql: Sql) => ({
  /** Stores a code in place of an older one. Returns when it expires. */
  async replace({ tenant, app, purpose, subject }: CodePlace, mac: Buffer): Promise<string> {
    const [{ expires_at }] = await sql<[{ expires_at: string }]>`
      insert into auth.one_time (tenant_id, app_id, purpose, subject, hash, expires_at)
      values (${tenant}, ${app}, ${purpose}, ${subject}, ${mac}, now() + interval '5 minutes')
      on conflict on constraint one_time_subject do update
      set hash = excluded.hash, expires_at = excluded.expires_at, attempts = 0, created_at = now()
      returning expires_at`;
    return expires_at;
  },

  /**
   * Consumes the code if it is correct. The comparing statement also counts the attempt, so of concurrent attempts at most five
   * are compared and one succeeds.
   */
  async consume({ tenant, app, purpose, subject }: CodePlace, mac: Buffer): Promise<boolean> {
    const place = sql`tenant_id = ${tenant} and app_id = ${app} and purpose = ${purpose} and subject = ${subject}`;
    const [tried] = await sql<{ good: boolean }[]>`
      update auth.one_time set attempts = attempts + 1
      where ${place} and attempts < ${mostAttempts} and expires_at > now()
      returning hash = ${mac} as good`;
    if (!tried?.good) return false;
    await sql`delete from auth.one_time where ${place}`;
    return true;
  },
});
