import type { Sql } from '../../db/index.ts';

/** What a code in a text message is for: to sign in by a number, or to prove the number of a second factor. */
export type CodePurpose = 'phone_signin' | 'phone_enrollment';

/** Where a code is kept. */
export interface CodePlace {
  readonly tenant: string;
  readonly app: string;
  readonly purpose: CodePurpose;
  /** The enrollment, or the hidden number. */
  readonly subject: string;
}

const mostAttempts = 5;

/** Every statement about codes in text messages that are not of a challenge. */
export const codeStore = (sql: Sql) => ({
  /** Stores a code in place of an older one. Answers until when it is good. */
  async replace({ tenant, app, purpose, subject }: CodePlace, mac: Buffer): Promise<string> {
    const [{ expires_at }] = await sql<[{ expires_at: string }]>`
      insert into auth.one_time (tenant_id, app_id, purpose, subject, hash, expires_at)
      values (${tenant}, ${app}, ${purpose}, ${subject}, ${mac}, now() + interval '5 minutes')
      on conflict on constraint one_time_subject do update
      set hash = excluded.hash, expires_at = excluded.expires_at, attempts = 0, created_at = now()
      returning expires_at`;
    return expires_at;
  },

  /** Takes the code if it is the right one, and counts the attempt if not. Of many who try at once one gets it. */
  async consume({ tenant, app, purpose, subject }: CodePlace, mac: Buffer): Promise<boolean> {
    const place = sql`tenant_id = ${tenant} and app_id = ${app} and purpose = ${purpose} and subject = ${subject}`;
    const { count } = await sql`
      delete from auth.one_time
      where ${place} and hash = ${mac} and attempts < ${mostAttempts} and expires_at > now()`;
    if (count > 0) return true;
    await sql`update auth.one_time set attempts = attempts + 1 where ${place}`;
    return false;
  },
});
