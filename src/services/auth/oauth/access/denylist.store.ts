import type { Sql } from '../../../../db/index.ts';
import { type AccessClaims, subjectsOfClaims } from './access-claims.ts';

/** A subject, and the time before which tokens about it are refused. */
export interface Denial {
  readonly kind: string;
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly before: number;
}

/** The entries of the change log that concern access tokens. */
export const denylistStore = (sql: Sql) => ({
  /** Denials of the last `withinMs`, at most `most` of them. */
  async latest(withinMs: number, most: number): Promise<Denial[]> {
    return await sql<Denial[]>`
      select kind, id, ${milliseconds(sql)} as before
      from auth.changes
      where at > now() - ${withinMs} * interval '1 millisecond' and before > 'epoch'
      group by kind, id
      limit ${most}`;
  },

  /** The ids of the refused ones among these tokens. */
  async refused(tokens: readonly AccessClaims[]): Promise<string[]> {
    const subjects = tokens.flatMap((claims) =>
      subjectsOfClaims(claims).map((subject) => ({
        ...subject,
        token: claims.id,
        issuedAt: claims.issuedAt,
      })),
    );
    const rows = await sql<{ token: string }[]>`
      select distinct asked.token
      from unnest(
        ${subjects.map(({ token }) => token)}::text[],
        ${subjects.map(({ issuedAt }) => issuedAt)}::float8[],
        ${subjects.map(({ kind }) => kind)}::text[],
        ${subjects.map(({ id }) => id)}::text[]
      ) as asked(token, issued_at, kind, id)
      join auth.changes on changes.kind = asked.kind and changes.id = asked.id
        and changes.before > 'epoch'::timestamptz + asked.issued_at * interval '1 millisecond'`;
    return rows.map(({ token }) => token);
  },
});

const milliseconds = (sql: Sql) => sql`(extract(epoch from max(before)) * 1000)::float8`;
