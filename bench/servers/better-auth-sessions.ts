/**
 * Better Auth's `getSession` behind `node:http`, without its cookie cache: each check asks the database. With `update`, each
 * check also extends its session. It uses Better Auth's own adapter on PostgreSQL, and its memory adapter without PostgreSQL.
 */
import { betterAuth, type BetterAuthOptions } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { getMigrations } from 'better-auth/db/migration';
import { createServer } from 'node:http';
import { peerSecret, peerToken } from '../auth/peer-session.ts';
import { listen } from './announce.ts';
import { betterAuthPool } from './better-auth-sql.ts';
import { sendJson } from './json.ts';

const [url = '', count = '0', mode = 'check'] = process.argv.slice(2);
const common = {
  secret: peerSecret,
  baseURL: 'http://127.0.0.1',
  emailAndPassword: { enabled: true },
  session: { cookieCache: { enabled: false }, ...(mode === 'update' ? { updateAge: 0 } : {}) },
  logger: { disabled: true },
} satisfies BetterAuthOptions;

const auth = betterAuth(url === '' ? inMemory() : await onPostgres());
listen(
  createServer((req, res) => {
    const headers = new Headers({ cookie: req.headers.cookie ?? '' });
    void auth.api.getSession({ headers }).then((found) => sendJson(res, found));
  }),
);

function allRows() {
  const now = new Date();
  const expiresAt = new Date(now.getTime() + 7 * 24 * 3_600_000);
  const numbers = Array.from({ length: Number(count) }, (_, n) => n);
  const dates = { createdAt: now, updatedAt: now };
  const user = numbers.map((n) => ({
    ...{
      id: `user-${n}`,
      name: 'Ada Lovelace',
      email: `user-${n}@example.com`,
      emailVerified: false,
      image: null,
    },
    ...dates,
  }));
  const session = numbers.map((n) => ({
    ...{
      id: `session-${n}`,
      userId: `user-${n}`,
      token: peerToken(n),
      expiresAt,
      ipAddress: '',
      userAgent: '',
    },
    ...dates,
  }));
  return { user, session };
}

function inMemory(): BetterAuthOptions & typeof common {
  return { ...common, database: memoryAdapter({ ...allRows(), account: [], verification: [] }) };
}

async function onPostgres(): Promise<BetterAuthOptions & typeof common> {
  const { sql, database } = betterAuthPool(url);
  const options: BetterAuthOptions & typeof common = Object.assign({ database }, common);
  await (await getMigrations(options)).runMigrations();
  const { user, session } = allRows();
  for (let from = 0; from < user.length; from += 5_000) {
    await sql`insert into "user" ${sql(user.slice(from, from + 5_000))} on conflict do nothing`;
    await sql`insert into session ${sql(session.slice(from, from + 5_000))} on conflict do nothing`;
  }
  await sql`analyze "user", session`;
  return options;
}
