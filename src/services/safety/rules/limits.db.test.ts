/** Tests that what the rules of an app hold together is limited, and that what goes makes room. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { examples, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['safety'] });
  api = tools(server);
});
afterAll(() => server.close());

const inApp = (app: string) => ({ headers: { 'X-App-ID': app } });
/** An awareness with so many keywords or expressions, each different. */
const holding = (name: string, kind: 'keywords' | 'patterns', counts: readonly number[], text: string) => ({
  ...{ name, focus: 'custom' },
  detectors: counts.map((count, at) => ({
    name: `d${at}`,
    [kind]: Array.from({ length: count }, (_, n) => `${text}${at}x${n}`),
  })),
});
const times = (count: number, of: number) => Array.from({ length: count }, () => of);

it.each([
  ['20000 keywords', holding('first', 'keywords', times(24, 500), 'k'), 'keywords', times(24, 500), 'k'],
  ['500 regular expressions', holding('first', 'patterns', times(9, 32), 'p'), 'patterns', times(9, 32), 'p'],
  [
    '20000 instructions of regular expressions',
    holding('first', 'patterns', [12], 'a{950}'),
    'patterns',
    [12],
    'b{950}',
  ],
] as const)('an app has at most %s', async (limit, first, kind, counts, text) => {
  const app = inApp(`app-${kind}-${counts.length}`);
  const { id } = await api.create('awareness', first, app);
  const second = holding('second', kind, counts, text);
  const refused = [409, `app has reached its limit of ${limit}`];
  expect(await api.refusal('POST', '/awareness', { body: second, ...app })).toEqual(refused);
  // A change counts by what it adds.
  expect((await api.send('PUT', `/awareness/${id}`, { body: first, ...app })).name).toBe('first');
  await api.send('DELETE', `/awareness/${id}`, app);
  const other = await api.create('awareness', second, app);
  expect(await api.refusal('POST', '/awareness', { body: first, ...app })).toEqual(refused);
  await api.send('DELETE', `/awareness/${other.id}`, app);
});

it('an app has at most 100 profiles, however many are made at once', async () => {
  const answers = await Promise.all(
    Array.from({ length: 103 }, (_, n) =>
      server.request('POST', '/safety/v1/profiles', {
        body: { ...examples.profiles, name: `p${n}` },
        ...inApp('profiles'),
      }),
    ),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...times(100, 201), ...times(3, 409)]);
});
