/** Response times do not reveal whether an account exists, because the work is the same: hashes and statements. */
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newEmail, tools } from '../testing/index.ts';

const work = vi.hoisted(() => ({ hashes: [] as string[], statements: [] as string[] }));
vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof import('@node-rs/argon2')>();
  return {
    ...real,
    hash: (...all: Parameters<typeof real.hash>) => (work.hashes.push('hash'), real.hash(...all)),
    // The parameters determine the duration, not the salt and not the password.
    verify: (...all: Parameters<typeof real.verify>) => (
      work.hashes.push(`verify ${String(all[0]).split('$').slice(0, 4).join('$')}`),
      real.verify(...all)
    ),
  };
});
vi.mock('postgres', async (original) => {
  const real = (await original<{ default: (...all: object[]) => object }>()).default;
  const debug = (_connection: number, text: string) =>
    void work.statements.push(text.replace(/\s+/g, ' ').trim());
  const open = (...all: object[]) => real(...all.slice(0, -1), { ...all.at(-1), debug });
  return { default: Object.assign(open, real) };
});

let server: TestServer;
let api: ReturnType<typeof tools>;
let known: string;
let without: string;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = tools(server);
  const [one, other] = [await api.signUp(), await api.signUp()];
  [known, without] = [one.user.email!, other.user.email!];
  await server.db.sql`update auth.users set password_hash = null where email = ${without}`;
});
afterAll(() => server.close());
beforeEach(() => server.db.sql`delete from auth.throttles`);

/** The password work of a request, and its statements on tables that reveal accounts. */
async function workOf(path: string, body: object) {
  const since = { hashes: work.hashes.length, statements: work.statements.length };
  const { status, text } = await server.request('POST', `/auth/v1/auth${path}`, {
    token: null,
    body: { app_id: 'default', ...body },
  });
  return {
    answer: `${status} ${text}`,
    hashes: work.hashes.slice(since.hashes),
    statements: work.statements
      .slice(since.statements)
      .filter((text) => accountTables.test(text) && !ofBackground.test(text)),
  };
}
const accountTables =
  /auth"?\."?(users|throttles|reserve_attempt|give_back_attempt|outbox|devices|sessions|challenges|enrollments|requests|one_time|messages)\b/;
/** Background work reads rows in batches. */
const ofBackground = / limit \$\d/;

it('an unknown user, one without a password and a wrong password', async () => {
  const done = [];
  for (const email of [newEmail(), without, known])
    done.push(await workOf('/signin', { email, password: 'wrong' }));
  expect(done[0]!.hashes).toEqual(['verify $argon2id$v=19$m=7168,t=1,p=1']);
  expect(done[0]!.statements.length).toBeGreaterThan(2);
  expect(done[1]).toEqual(done[0]);
  expect(done[2]).toEqual(done[0]);
});

it('the right password is more work, or nothing would be compared above', async () => {
  const right = await workOf('/signin', { email: known, password: 'correct horse battery staple' });
  const wrong = await workOf('/signin', { email: known, password: 'wrong' });
  expect(right.statements.length).toBeGreaterThan(wrong.statements.length);
});

it.each(['/forgot-password', '/verify-email/resend'])(
  '%s for a known and an unknown address',
  async (path) => {
    const done = [];
    for (const email of [newEmail(), known]) {
      const { answer, hashes, statements } = await workOf(path, { email });
      // The request is processed later, whether or not the response has already been sent.
      const noted = statements.findIndex((text) => text.startsWith('insert into auth.requests'));
      const before = statements.slice(0, noted).filter((text) => !text.includes('from auth.requests'));
      done.push({ answer, hashes, before, noted: statements[noted] });
      await expect.poll(async () => (await server.db.sql`select from auth.requests`).length).toBe(0);
    }
    expect(done[0]).toEqual({
      answer: '200 {"status":"ok"}',
      hashes: [],
      before: [],
      noted: expect.any(String),
    });
    expect(done[1]).toEqual(done[0]);
  },
);
