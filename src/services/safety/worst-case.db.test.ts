import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['safety'], strict: false });
});
afterAll(() => server.close());

/** Texts of the greatest length that give the engine as much work as possible. */
const hostile = ['@', '1 ', 'a@a.', '-----BEGIN ', '[EMAIL_1]', 'ignore all previous '].map((part) =>
  part.repeat(Math.floor(524_288 / part.length)),
);

it('hostile texts of one tenant delay the scans of another one by little', async () => {
  const { scanInput } = tools(server);
  await scanInput('hello', {}, { tenant: 'calm' });
  const timed = async () => {
    const began = performance.now();
    await scanInput('hello', {}, { tenant: 'calm' });
    return performance.now() - began;
  };
  const alone = [];
  for (let count = 0; count < 10; count++) alone.push(await timed());
  let running = true;
  const load = Promise.all(
    hostile.map((text) =>
      server.request('POST', '/safety/v1/scan/input', { body: { text }, tenant: 'hostile' }),
    ),
  ).then((answers) => {
    running = false;
    return answers;
  });
  const beside = [];
  while (running || beside.length < 5) beside.push(await timed());
  for (const { status } of await load) expect([200, 503]).toContain(status);
  const median = (times: number[]) => times.sort((one, other) => one - other)[times.length >> 1]!;
  // Both are measured in one run on a machine that may be busy: eight times the bound of 50 ms at worst.
  expect(median(beside)).toBeLessThan(Math.max(400, median(alone) * 8));
}, 60_000);
