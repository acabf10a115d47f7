/**
 * Better Auth's `verifyApiKey` behind `node:http`: with its own adapter on PostgreSQL, and its memory adapter without
 * PostgreSQL. This server creates the keys `name-0`, `name-1`, … with the hashes that `peerKey` returns.
 */
import { apiKey } from '@better-auth/api-key';
import { betterAuth, type BetterAuthOptions } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { getMigrations } from 'better-auth/db/migration';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { peerKey } from '../keys/peer-key.ts';
import { listen } from './announce.ts';
import { betterAuthPool } from './better-auth-sql.ts';
import { readJson, sendJson } from './json.ts';

const [url = '', free = '0', limited = '0'] = process.argv.slice(2);
const plugin = apiKey({ rateLimit: { enabled: true, timeWindow: 60_000, maxRequests: 1_000 } });
const common = {
  secret: 'a-secret-of-the-benchmark-0123456789',
  plugins: [plugin],
  logger: { disabled: true },
};

const auth = betterAuth(url === '' ? inMemory() : await onPostgres());
listen(
  createServer((req, res) => {
    void readJson(req).then(async (body) => {
      const { key } = body as { key: string };
      const { valid, error } = await auth.api.verifyApiKey({ body: { key } });
      sendJson(res, { valid, error });
    });
  }),
);

function rowsOf(name: string, count: number, rateLimitEnabled: boolean) {
  const now = new Date();
  return Array.from({ length: count }, (_, n) => ({
    ...{ id: `${name}-${n}`, configId: 'default', referenceId: 'owner', enabled: true, rateLimitEnabled },
    key: createHash('sha256').update(peerKey(name, n)).digest('base64url'),
    ...{ rateLimitTimeWindow: 60_000, rateLimitMax: 1_000, requestCount: 0, createdAt: now, updatedAt: now },
  }));
}

function allRows() {
  return [...rowsOf('free', Number(free), false), ...rowsOf('limited', Number(limited), true)];
}

function inMemory(): BetterAuthOptions & typeof common {
  const empty = { remaining: null, lastRequest: null, expiresAt: null, permissions: null, metadata: null };
  const apikey = allRows().map((row) => ({ ...row, ...empty, refillAmount: null, refillInterval: null }));
  return {
    ...common,
    database: memoryAdapter({ apikey, user: [], session: [], account: [], verification: [] }),
  };
}

async function onPostgres(): Promise<BetterAuthOptions & typeof common> {
  const { sql, database } = betterAuthPool(url);
  const options: BetterAuthOptions & typeof common = Object.assign({ database }, common);
  await (await getMigrations(options)).runMigrations();
  const rows = allRows();
  for (let from = 0; from < rows.length; from += 5_000)
    await sql`insert into apikey ${sql(rows.slice(from, from + 5_000))}`;
  await sql`analyze apikey`;
  return options;
}
