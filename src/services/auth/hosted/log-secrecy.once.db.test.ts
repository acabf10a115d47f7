/** The log names the parameter and not its value where a path may carry a credential: whoever reads logs signs in as nobody. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { operations } from '../../../../generated/operations.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { password, tools } from '../testing/index.ts';
import { interactionTools, told } from '../testing/interactions.ts';

interface Line {
  readonly msg: string;
  readonly method: string;
  readonly path: string;
}

let server: TestServer;
let lines: string[] = [];
beforeAll(async () => {
  const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };
  const log = { write: (line: string) => void lines.push(line) };
  server = await testServer({ services: ['auth'], env, log });
});
beforeEach(() => (lines = []));
afterAll(() => server.close());

const { asked, signIn } = interactionTools(() => server);
/** The requests that were logged; a line is written once the connection has taken the whole response. */
const logged = () => lines.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === 'request');

const open = operations.filter(
  ({ service, access, path }) => service === 'auth' && access === 'public' && path.includes('{'),
);

it.each(open.map(({ verb, path }) => [verb, path] as const))('%s %s', async (verb, path) => {
  const secret = 'a-credential-in-a-path';
  const at = `/auth${path.replace(/\{[^}]+\}/, secret)}`;
  const preflight = { origin: 'https://elsewhere.example', 'access-control-request-method': verb };
  await server.request(verb, at, { token: null });
  await server.request('PATCH', at, { token: null });
  await server.request(verb, `${at}/`, { token: null });
  await server.request('OPTIONS', at, { token: null, headers: preflight });
  await expect
    .poll(() =>
      logged()
        .map(({ method }) => method)
        .sort(),
    )
    .toEqual([verb, 'PATCH', verb, 'OPTIONS'].sort());
  expect(new Set(logged().map((line) => line.path))).toEqual(new Set([path]));
  expect(lines.join('')).not.toContain(secret);
});

it('a whole sign-in leaves neither the id of its interaction nor a cookie', async () => {
  const { user } = await tools(server).signUp();
  const { own, page } = await asked();
  const uid = /\/oauth2\/interactions\/([\w-]+)/.exec(page.url)![1]!;
  const secrets = [uid, ...[...own.cookies.values()].map(({ value }) => value)];
  // Going to the address of a form is no sign-in: it is a wrong method on that path.
  expect((await own.open(`/oauth2/interactions/${uid}/signin`)).status).toBe(405);
  const consent = await signIn(own, page, user);
  secrets.push(...[...own.cookies.values()].map(({ value }) => value));
  const done = await own.follow(await own.submit(consent, '/consent'));
  secrets.push(told(done).code!, password);
  await expect.poll(() => logged().filter(({ path }) => path.endsWith('/consent'))).toHaveLength(1);
  expect(secrets.length).toBeGreaterThan(4);
  for (const secret of secrets) expect(lines.join('')).not.toContain(secret);
});
