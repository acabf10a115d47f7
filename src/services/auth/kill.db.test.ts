/**
 * `kill -9` in the middle of sign-ups, refreshes and password resets: acknowledged changes persist, others can be repeated, and
 * no token is valid twice.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChildServer, childServer } from '../../testing/child-server.ts';
import { createPool, type Pool } from '../../db/sql.ts';
import { childDatabase, type ChildDatabase } from '../../testing/database.ts';
import { newEmail } from './testing/index.ts';
import { messagesTo } from './testing/messages.store.ts';

const services = ['auth', 'keys'];
const password = 'correct horse battery staple';
const next = 'seven brass wheels turning';

let db: ChildDatabase;
/** Only the server can read the embedded database, so there the tokens in messages stay unread. */
let pool: Pool | undefined;
let server: ChildServer | undefined;
beforeAll(async () => {
  db = await childDatabase(services);
  pool = db.url === undefined ? undefined : createPool({ max: 1 }, db.url);
});
afterAll(async () => {
  await server?.kill('SIGKILL');
  await pool?.end();
  await db.remove();
});

const start = () =>
  childServer({
    services,
    env: {
      PLINTH_CONTRACT: 'fast',
      PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1',
      PLINTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      ...db.env,
    },
  });

/** One account as its owner saw it: what was acknowledged, and what was requested without a response. */
interface Account {
  readonly email: string;
  refreshToken?: string;
  readonly spent: string[];
  asked?: { token: string; key: string } | undefined;
  resetToken?: string;
  reset?: 'asked' | 'done';
}

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  server!.request('POST', `/auth/v1/auth${path}`, { token: null, body, headers });
/** Returns undefined when the server is gone. */
const answered = (path: string, body: object, headers?: Record<string, string>) =>
  post(path, body, headers).catch(() => undefined);
const signin = async (email: string, password: string) =>
  (await post('/signin', { email, password, app_id: 'default' })).status;
const refresh = ({ token, key }: { token: string; key: string }) =>
  post('/refresh', { refresh_token: token }, { 'idempotency-key': key });

async function use(accounts: Account[], refused: unknown[]): Promise<void> {
  for (;;) {
    const account: Account = { email: newEmail(), spent: [] };
    const signedUp = await answered('/signup', { email: account.email, password, app_id: 'default' });
    if (!signedUp) return;
    if (signedUp.status !== 201) refused.push(signedUp.text);
    account.refreshToken = signedUp.body.refresh_token;
    accounts.push(account);
    for (let n = 0; n < 3; n += 1) if (!(await refreshOnce(account, refused))) return;
    if (pool && !(await resetOnce(pool, account, refused))) return;
  }
}

async function refreshOnce(account: Account, refused: unknown[]): Promise<boolean> {
  const token = account.refreshToken!;
  account.asked = { token, key: `key-${account.spent.length}` };
  const answer = await answered(
    '/refresh',
    { refresh_token: token },
    { 'idempotency-key': account.asked.key },
  );
  if (!answer) return false;
  if (answer.status !== 200) refused.push(answer.text);
  account.spent.push(token);
  account.refreshToken = answer.body.refresh_token;
  account.asked = undefined;
  return true;
}

async function resetOnce(pool: Pool, account: Account, refused: unknown[]): Promise<boolean> {
  if (!(await answered('/forgot-password', { email: account.email, app_id: 'default' }))) return false;
  const sent = async () =>
    (await messagesTo(pool, account.email)).find(({ kind }) => kind === 'reset_password')?.token;
  let token = await sent();
  while (!token) {
    if (!(await server!.request('GET', '/healthz').catch(() => undefined))) return false;
    token = await sent();
  }
  account.resetToken = token;
  account.reset = 'asked';
  const answer = await answered('/reset-password', { token, new_password: next });
  if (!answer) return false;
  if (answer.status !== 200) refused.push(answer.text);
  account.reset = 'done';
  return true;
}

test('what was acknowledged survives kill -9, and nothing is good twice', { timeout: 180_000 }, async () => {
  server = await start();
  for (let round = 0; round < 3; round += 1) {
    const accounts: Account[] = [];
    const refused: unknown[] = [];
    const clients = Promise.all(Array.from({ length: 4 }, () => use(accounts, refused)));
    const least = 8 + Math.floor(Math.random() * 12);
    await expect.poll(() => accounts.length, { timeout: 60_000, interval: 5 }).toBeGreaterThan(least);
    await server.kill('SIGKILL');
    await clients;
    expect(refused).toEqual([]);
    server = await start();
    for (const account of accounts) await check(account);
  }
  expect(await server.kill()).toBe(0);
});

async function check({ email, refreshToken, spent, asked, resetToken, reset }: Account): Promise<void> {
  if (reset === undefined) {
    expect(await signin(email, password)).toBe(200);
    // A repeat of the same request gets a response, whether or not it was carried out before.
    const again = await refresh(asked ?? { token: refreshToken!, key: 'new' });
    expect(again.status).toBe(200);
    for (const token of [...spent, asked?.token ?? refreshToken!])
      expect((await refresh({ token, key: 'other' })).status).toBe(401);
    return;
  }
  const works = [await signin(email, password), await signin(email, next)];
  const done = works[1] === 200;
  if (reset === 'done') expect(done).toBe(true);
  expect(works).toEqual(done ? [401, 200] : [200, 401]);
  const again = await post('/reset-password', { token: resetToken, new_password: next });
  expect(again.status).toBe(done ? 400 : 200);
  expect((await refresh({ token: refreshToken!, key: 'new' })).status).toBe(401);
}
