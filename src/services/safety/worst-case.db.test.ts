import { afterAll, beforeAll, expect, it } from 'vitest';
import { leastTurnOf, onThisMachine } from '../../testing/processor-time.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  // As in production: a second check of requests and responses is for development.
  server = await testServer({ services: ['safety'], strict: false });
  api = tools(server);
  await api.create('awareness', { name: 'keep', focus: 'pii', action: 'vault', detectors: [] });
  await api.create('profiles', { name: 'keeps', awareness: [{ awareness_name: 'keep' }] });
  const patterns = ['(a|a)*b', '(x+x+)+y', 'a.{30}b', '(?:.*a){8}z'];
  const detectors = [{ name: 'hostile', patterns, match: 'substring' }];
  await api.create('awareness', { name: 'hostile', detectors });
  await api.create('profiles', { name: 'hostile', awareness: [{ awareness_name: 'hostile' }] });
});
afterAll(() => server.close());

/** For so long others may have to wait, with what the frame and an embedded database do in the same process. */
const bound = () => onThisMachine(20);

const repeated = (part: string) => part.repeat(Math.floor(524_288 / part.length));

/** The most processor time of a turn while a text is sent. */
function longest(path: string, body: object): Promise<number> {
  const headers = { authorization: `Bearer ${server.rootToken}`, 'content-type': 'application/json' };
  const text = JSON.stringify(body);
  return leastTurnOf(async () => {
    const answer = await fetch(`${server.url}/safety/v1${path}`, { method: 'POST', headers, body: text });
    // A scan that takes too much work is refused, and not by a failure of the server.
    expect([200, 400, 503]).toContain(answer.status);
    for await (const _ of answer.body!);
  }, bound);
}

it.each(['@', '1 ', 'a@a.', '-----BEGIN ', '[EMAIL_1]', 'ignore all previous '])(
  'the longest text of %j keeps no other request waiting for long',
  async (part) => {
    expect(await longest('/scan/input', { text: repeated(part) })).toBeLessThan(bound());
  },
  60_000,
);

it('hostile expressions on the longest text keep no other request waiting for long', async () => {
  for (const part of ['a', 'x', 'ab'])
    expect(await longest('/scan/input', { text: repeated(part), profile: 'hostile' })).toBeLessThan(bound());
}, 60_000);

it('a context of many members keeps no other request waiting for long', async () => {
  const context = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`member${at}`, at]));
  expect(await longest('/scan/input', { text: 'hello', context })).toBeLessThan(bound());
}, 60_000);

it('many originals keep no other request waiting for long, neither stored nor restored', async () => {
  const text = Array.from({ length: 10_000 }, (_, at) => `n${at}@example.com`).join(' ');
  expect(await longest('/scan/input', { text, profile: 'keeps' })).toBeLessThan(bound());
  const { redacted } = await api.scanInput(text, { profile: 'keeps' });
  expect((await api.send('POST', '/vault/restore', { body: { text: redacted } })).text).toBe(text);
  expect(await longest('/vault/restore', { text: redacted })).toBeLessThan(bound());
}, 120_000);

it('hostile texts of one tenant leave the scans of another one alone', async () => {
  const hostile = ['@', '1 ', 'a@a.'].map((part) => repeated(part));
  let running = true;
  const load = Promise.all(
    hostile.map((text) =>
      server.request('POST', '/safety/v1/scan/input', { body: { text }, tenant: 'hostile' }),
    ),
  ).finally(() => (running = false));
  let calm = 0;
  while (running) {
    expect((await api.scanInput('hello', {}, { tenant: 'calm' })).decision).toBe('allow');
    calm++;
  }
  for (const { status } of await load) expect([200, 503]).toContain(status);
  expect(calm).toBeGreaterThan(3);
}, 60_000);
