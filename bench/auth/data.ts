/** Accounts and sessions, written directly as rows: the data that sign-ins would store, in a few statements and without password hashes. */
import type { Database } from '../../src/db/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { createDirectory } from '../../src/services/auth/directory/directory.ts';
import { ensureFirstApp } from '../../src/services/auth/directory/first-app.ts';
import { issueToken } from '../../src/services/auth/directory/tokens.ts';

export interface SeededSession {
  readonly token: string;
  readonly refreshToken: string;
}

/** Creates `count` sessions of the app `default`, each for a separate user. */
export async function seedSessions(db: Database, count: number): Promise<SeededSession[]> {
  await ensureFirstApp(db);
  const unchanging = { position: () => 0, isCurrent: () => true, subscribe: () => () => {} };
  const tag = await createDirectory({ db, changes: unchanging }).tagOf('default');
  const made = Array.from({ length: count }, () => ({
    user: newId('user'),
    session: newId('sess'),
    token: issueToken('pst', tag),
    refresh: issueToken('prt', tag),
  }));
  await db.maintenance(async (sql) => {
    for (let from = 0; from < count; from += 5_000) {
      const some = made.slice(from, from + 5_000);
      const users = some.map(({ user }) => user);
      await sql`
        insert into auth.users (id, tenant_id, app_id, email, name, last_signin_at)
        select id, 'default', 'default', id || '@example.com', 'Ada Lovelace', now()
        from unnest(${users}::text[]) as id`;
      await sql`
        insert into auth.sessions (
          id, tenant_id, app_id, user_id, kind, ip_address, token_hash, refresh_hash, expires_at, refresh_expires_at
        )
        select
          id, 'default', 'default', user_id, 'api', '203.0.113.7', decode(token_hash, 'hex'), decode(refresh_hash, 'hex'),
          now() + interval '1 hour', now() + interval '30 days'
        from unnest(
          ${some.map(({ session }) => session)}::text[], ${users}::text[],
          ${some.map(({ token }) => token.hash.toString('hex'))}::text[],
          ${some.map(({ refresh }) => refresh.hash.toString('hex'))}::text[]
        ) as given (id, user_id, token_hash, refresh_hash)`;
    }
    await sql`analyze auth.users, auth.sessions`;
  });
  return made.map(({ token, refresh }) => ({ token: token.token, refreshToken: refresh.token }));
}
