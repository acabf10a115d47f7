/** What strangers can do to others by sending many requests, and what a lost database does to everybody. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type ChildServer, childServer } from '../../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { proxyTo, type Proxy } from '../../../testing/proxy.ts';
import { newEmail } from '../testing/index.ts';
import { metricsOf } from '../../../testing/metrics.ts';

const services = ['auth', 'keys'];
const password = 'correct horse battery staple';
const onServer = inject('engine') === 'postgres';

let db: ChildDatabase;
let proxy: Proxy | undefined;
let server: ChildServer;
beforeAll(async () => {
  db = await childDatabase(services);
  proxy = db.url === undefined ? undefined : await proxyTo(db.url);
  const env = { PLINTH_CONTRACT: 'fast', ...db.env };
  server = await childServer({ services, env: { ...env, ...(proxy && { DATABASE_URL: proxy.url }) } });
});
afterAll(async () => {
  await server.kill();
  await proxy?.close();
  await db.remove();
});

const post = (path: string, body: object) =>
  server.request('POST', `/auth/v1/auth${path}`, { token: null, body: { app_id: 'default', ...body } });
const config = () => server.request('GET', '/auth/v1/auth/client-config?app_id=default', { token: null });
const emails = (count: number) => Array.from({ length: count }, newEmail);

const queue = async (figure: string) =>
  (await metricsOf(server)).get(`plinth_queue_${figure}{queue="auth.password_hashes"}`)!;

it('more sign-ins than can be worked off: some are told to come back, and nobody else waits', async () => {
  const before = [await queue('running'), await queue('waiting'), await queue('refused_total')];
  expect(before).toEqual([0, 0, 0]);
  const load = Promise.all(emails(300).map((email) => post('/signin', { email, password })));
  await expect.poll(() => queue('waiting')).toBeGreaterThan(0);
  expect(await queue('running')).toBeGreaterThan(0);
  const answers = [];
  for (let n = 0; n < 10; n += 1) answers.push(await config());
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  const signins = await load;
  expect(new Set(signins.map(({ status }) => status))).toEqual(new Set([401, 429]));
  const refused = signins.find(({ status }) => status === 429)!;
  expect(refused.headers.get('retry-after')).toBe('1');
  // A caller who is refused because of the load of others has not tried too often.
  expect(refused.body).toEqual({
    error: 'the server is busy: try again in a second',
    code: 'RATE_LIMITED',
  });
  const after = [await queue('running'), await queue('waiting'), await queue('refused_total')];
  expect(after).toEqual([0, 0, signins.filter(({ status }) => status === 429).length]);
});

it.runIf(onServer)('without its database it says so, and goes on by itself when it is back', async () => {
  const [email = ''] = emails(1);
  await post('/signup', { email, password });
  await proxy!.cut();
  const answer = await post('/signin', { email, password });
  expect([answer.status, answer.body]).toEqual([500, { error: 'internal error', code: 'INTERNAL_ERROR' }]);
  await proxy!.restore();
  await expect.poll(async () => (await post('/signin', { email, password })).status).toBe(200);
});
