import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { proxyTo, type Proxy } from '../../../testing/proxy.ts';
import { redisAnswers, redisUrl } from '../../../testing/redis.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newEmail } from '../testing/index.ts';

const answers = await redisAnswers();
/** An address that no other test uses. */
const newIp = () => `198.18.${randomInt(256)}.${randomInt(256)}`;

const lines: { msg: string }[] = [];
const alone = () => lines.filter(({ msg }) => msg.startsWith('without redis'));
const serverWith = (url: string) =>
  testServer({
    services: ['auth'],
    env: { PLINTH_AUTH_RATE_LIMIT: 'on', PLINTH_REDIS_URL: url },
    trustedProxy: ['127.0.0.1'],
    log: { write: (line) => void lines.push(JSON.parse(line) as { msg: string }) },
  });
const ask = async (server: TestServer, ip: string) => {
  const body = { email: newEmail(), app_id: 'default' };
  const options = { token: null, body, headers: { 'x-forwarded-for': ip } };
  return (await server.request('POST', '/auth/v1/auth/forgot-password', options)).status;
};

describe.skipIf(!answers)('two servers with PLINTH_REDIS_URL, where a Redis answers on port 6379', () => {
  let proxy: Proxy;
  let servers: TestServer[] = [];
  beforeAll(async () => {
    proxy = await proxyTo(redisUrl);
    servers = [await serverWith(proxy.url), await serverWith(proxy.url)];
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()));
    await proxy.close();
  });

  /** Waits until both servers count in Redis: each then knows the counts of the other. */
  const together = () =>
    vi.waitUntil(
      async () => {
        const ip = newIp();
        for (const server of [servers[0]!, servers[0]!, servers[0]!, servers[1]!, servers[1]!])
          await ask(server, ip);
        return (await ask(servers[0]!, ip)) === 429 && (await ask(servers[1]!, ip)) === 429;
      },
      { timeout: 20_000 },
    );

  it('count the requests of an address together, also at once', async () => {
    await together();
    const ip = newIp();
    const statuses = await Promise.all(Array.from({ length: 20 }, (_, n) => ask(servers[n % 2]!, ip)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(await ask(servers[0]!, newIp())).toBe(200);
  });

  it('count each for itself while it is away, say so once, and count together again', async () => {
    await together();
    lines.length = 0;
    await proxy.cut();
    const ip = newIp();
    for (const server of servers) {
      const statuses = [];
      for (let n = 0; n < 6; n += 1) statuses.push(await ask(server, ip));
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    }
    expect(alone()).toHaveLength(2);
    await proxy.restore();
    await together();
  });

  it('wait no longer than a moment for one that hangs', async () => {
    await together();
    lines.length = 0;
    proxy.freeze();
    expect(await ask(servers[0]!, newIp())).toBe(200);
    expect(alone()).toHaveLength(1);
    await proxy.restore();
    await together();
  });
});

it('limits hold where nothing answers at PLINTH_REDIS_URL', async () => {
  const server = await serverWith('redis://127.0.0.1:1');
  const ip = newIp();
  const statuses = [];
  for (let n = 0; n < 6; n += 1) statuses.push(await ask(server, ip));
  await server.close();
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
});
