import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { IssuedClient } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { decided, deviceTools, typed } from '../testing/devices.ts';
import { heading, problemsOn, testBrowser } from '../testing/pages.ts';

let server: TestServer;
let television: IssuedClient;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  television = await device();
});
afterAll(() => server.close());
beforeEach(() => server.db.sql`delete from auth.device_tries`);

const { device, begin } = deviceTools(
  () => server,
  () => television,
);

describe('a code that somebody types', () => {
  const nothing = 'There is no such code. Compare it with the one on your device.';

  it('is refused where it is none, was used, or the page was not this browser’s', async () => {
    const browser = testBrowser(server);
    for (const user_code of ['BCDF-GHJK', '<script>', 'x'.repeat(1000)])
      expect(problemsOn(await typed(browser, user_code))).toEqual({ user_code: nothing });
    expect(problemsOn(await typed(browser, ' - '))).toEqual({ user_code: 'Enter the code.' });
    expect((await typed(browser, '\u0000')).status).toBe(400);
    const started = await begin();
    await decided(browser, await typed(browser, started.user_code), 'confirm');
    expect(problemsOn(await typed(testBrowser(server), started.user_code))).toEqual({
      user_code: 'This code has already been used. Ask your device for a new one.',
    });
    const unknown = await testBrowser(server).post('/oauth2/device', { xsrf: 'x', user_code: 'BCDF-GHJK' });
    expect([unknown.status, heading(unknown)]).toEqual([400, 'This page is out of date']);
    const lost = await testBrowser(server).open('/oauth2/device/xU4pYQm7nV2kR9sTbC1dE');
    expect([lost.status, heading(lost)]).toEqual([400, 'This sign-in has ended']);
    const { user_code } = await begin();
    const page = await testBrowser(server).open('/oauth2/device');
    const stranger = testBrowser(server);
    await stranger.open('/oauth2/device');
    const forged = await stranger.submit(page, '/oauth2/device', { user_code, confirm: 'yes' });
    expect([forged.status, problemsOn(forged)]).toEqual([
      400,
      { '': 'This page was out of date. Send the code once more.' },
    ]);
  });

  it('can be guessed twenty times from one network, also by fifty at once; right ones do not count', async () => {
    const browser = testBrowser(server);
    for (let count = 0; count < 25; count += 1) {
      const { user_code } = await begin();
      expect((await typed(browser, user_code)).status).toBe(200);
    }
    const page = await browser.open('/oauth2/device');
    const guesses = await Promise.all(
      Array.from({ length: 50 }, () => browser.submit(page, '/oauth2/device', { user_code: 'BCDF-GHJK' })),
    );
    const refused = guesses.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(30);
    expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(500);
    const { user_code } = await begin();
    expect((await typed(browser, user_code)).status).toBe(429);
    await server.db.sql`update auth.device_tries set since = now() - interval '11 minutes'`;
    expect((await typed(browser, user_code)).status).toBe(200);
  });
});
