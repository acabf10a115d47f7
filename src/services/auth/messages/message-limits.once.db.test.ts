/** In production nothing has to be set for messages to be limited, also by what many accounts and addresses have in common. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newEmail } from '../testing/index.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({
    services: ['auth'],
    production: true,
    trustedProxy: ['127.0.0.1'],
    // Without a gateway no texts would be sent in production; nothing listens at this one, so they wait.
    env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1', PLINTH_AUTH_SMS_URL: 'http://127.0.0.1:9' },
  });
});
afterAll(() => server.close());

/** Sends requests, ten at a time, and returns how many were answered with each status. */
async function statuses(
  count: number,
  ask: (at: number) => Promise<number>,
): Promise<Record<string, number>> {
  const seen: Record<string, number> = {};
  for (let begun = 0; begun < count; begun += 10) {
    const some = Array.from({ length: Math.min(10, count - begun) }, (_, at) => ask(begun + at));
    for (const status of await Promise.all(some)) seen[status] = (seen[status] ?? 0) + 1;
  }
  return seen;
}

const post = async (path: string, body: object, ip: string): Promise<number> =>
  (
    await server.request('POST', `/auth/v1/auth${path}`, {
      token: null,
      headers: { 'x-forwarded-for': ip },
      body,
    })
  ).status;
const text = (phone: string, ip: string) => post('/phone/send-code', { phone }, ip);

it('texts are limited by the network that asks', async () => {
  const number = (at: number) => (at % 2 ? `+4915112345${100 + at}` : `+336123456${10 + at}`);
  expect(await statuses(25, (at) => text(number(at), `192.0.2.${at + 1}`))).toEqual({ 200: 20, 429: 5 });
  expect(await text('+41781234567', '198.51.100.1')).toBe(200);
});

it('texts are limited by the block of numbers, whoever asks from wherever', async () => {
  const austrian = (at: number) => `+43664${1_000_000 + at}`;
  expect(await statuses(105, (at) => text(austrian(at), `10.1.${at}.1`))).toEqual({ 200: 100, 429: 5 });
  expect(await text('+436761234567', '10.2.0.1')).toBe(200);
});

it('mails are limited by the network that asks', async () => {
  const signUp = (ip: string) =>
    post('/signup', { email: newEmail(), password: 'correct horse battery staple', app_id: 'default' }, ip);
  expect(await statuses(63, (at) => signUp(`203.0.113.${at + 1}`))).toEqual({ 201: 60, 429: 3 });
  expect(await signUp('198.51.100.2')).toBe(201);
});
