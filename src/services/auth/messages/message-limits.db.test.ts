/** Nobody can buy texts and mails in a loop: messages are counted before they leave, for all processes. */
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  childServer,
  testSealer,
  testServer,
  type TestRequest,
  type TestServer,
} from '../../../testing/server.ts';
import { readSettings } from '../../../lib/settings.ts';
import { createEngine } from '../../../db/engine/index.ts';
import { createUserMessages } from './messages.ts';
import { settings } from '../settings.ts';
import { newEmail, newPhone, newSlug, tools } from '../testing/index.ts';
import { messagesTo } from '../testing/messages.store.ts';

const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };
/** A single service would serve its paths without its name as a prefix. */
const services = ['auth', 'keys'] as const;
const password = 'correct horse battery staple';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services, env, trustedProxy: ['127.0.0.1'] });
  api = tools(server);
});
afterAll(() => server.close());

const post = (
  path: string,
  body: object,
  options: TestRequest = {},
  to: Pick<TestServer, 'request'> = server,
) => to.request('POST', `/auth/v1/auth${path}`, { token: null, ...options, body });
const from = (ip: string) => ({ headers: { 'x-forwarded-for': ip } });
const times = <T>(count: number, run: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, at) => run(at)));
const count = (answers: readonly { status: number }[], wanted: number) =>
  answers.filter(({ status }) => status === wanted).length;
/** How many answers have each status. */
const statusesOf = (answers: readonly { status: number }[]) =>
  Object.fromEntries(
    [...Map.groupBy(answers, ({ status }) => status)].map(([status, { length }]) => [status, length]),
  );
const reason = { error: 'too many attempts', code: 'RATE_LIMITED', reason: 'too_many_attempts' };
const mails = async (to: string) => (await messagesTo(server.db.sql, to)).length;

describe('with the limits that hold unless they are set, outside production too', () => {
  it('sixty enrollments to sixty numbers at once send six texts', async () => {
    const { session_token: token } = await api.signUp();
    const phones = Array.from({ length: 60 }, newPhone);
    const answers = await times(60, (at) =>
      post('/mfa/enroll', { method: 'sms', phone: phones[at] }, { token }),
    );
    expect([count(answers, 201), count(answers, 429)]).toEqual([6, 54]);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.body).toEqual(reason);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
    const sent = await Promise.all(phones.map(mails));
    expect(sent.reduce((sum, one) => sum + one)).toBe(6);
  });

  it('sixty invitations at once send thirty mails; those of programs are not counted together', async () => {
    const { session_token: token } = await api.signUp();
    const org = await api.send('POST', '/organizations', { token, body: { name: 'Acme', slug: newSlug() } });
    const path = `/organizations/${org.id}/invitations`;
    const answers = await times(60, () => post(path, { email: newEmail() }, { token }));
    expect([count(answers, 201), count(answers, 429)]).toEqual([30, 30]);
    const pending = await server.db.sql`select from auth.invitations where org_id = ${org.id}`;
    expect(pending).toHaveLength(30);
    const byRoot = await times(10, () =>
      server.request('POST', `/auth/v1/auth${path}`, { body: { email: newEmail() } }),
    );
    expect(count(byRoot, 201)).toBe(10);
  });

  it.each([
    ['/forgot-password', 'reset_password', 6],
    ['/verify-email/resend', 'verify_email', 6],
  ] as const)(
    '%s is answered the same after the limit of an address, known or not',
    async (path, kind, most) => {
      const { user } = await api.signUp();
      const [known, unknown] = [user.email!, newEmail()];
      const texts = new Set<string>();
      for (const email of [known, unknown]) {
        const answers = await times(20, () => post(path, { email, app_id: 'default' }));
        for (const { status, text } of answers) texts.add(`${status} ${text}`);
      }
      expect([...texts]).toEqual(['200 {"status":"ok"}']);
      await expect.poll(async () => (await server.db.sql`select from auth.requests`).length).toBe(0);
      const sent = (await messagesTo(server.db.sql, known)).filter((message) => message.kind === kind);
      expect(sent).toHaveLength(most);
      expect(await mails(unknown)).toBe(0);
      // The newest of them is still valid: exhausting the limit for others does not lock them out.
      const good = [];
      for (const { token } of sent)
        good.push(
          kind === 'reset_password'
            ? (await post('/reset-password', { token, new_password: `${password}!` })).status
            : (await post('/verify-email', { token })).status,
        );
      expect(good.filter((status) => status === 200)).toHaveLength(1);
    },
  );

  it('of one kind do not use up another', async () => {
    const { user } = await api.signUp();
    const email = user.email!;
    await times(10, () => post('/forgot-password', { email, app_id: 'default' }));
    await expect.poll(async () => (await server.db.sql`select from auth.requests`).length).toBe(0);
    const org = await api.send('POST', '/organizations', { body: { name: 'Acme', slug: newSlug() } });
    await api.send('POST', `/organizations/${org.id}/invitations`, { body: { email } });
    await post('/verify-email/resend', { email, app_id: 'default' });
    const kinds = async () => new Set((await messagesTo(server.db.sql, email)).map(({ kind }) => kind)).size;
    await expect.poll(kinds).toBe(3);
  });

  it('a notice is bounded, and nothing that it tells of fails by that', async () => {
    const { db } = server;
    const messages = createUserMessages({
      db,
      engine: createEngine({ db, log: pino({ level: 'silent' }) }),
      settings: readSettings(settings, {}),
      production: false,
      byNetwork: true,
      clock: Date,
      sealer: testSealer,
      log: pino({ level: 'silent' }),
    });
    const to = newEmail();
    const draft = {
      kind: 'security_notice',
      channel: 'email',
      to,
      subject: 'Your password was changed',
      text: 'It was changed.',
      html: null,
      token: null,
      code: null,
      userId: null,
    } as const;
    await times(30, () =>
      db.transaction((sql) => messages.notice({ sql, tenant: 'default', app: 'default' }, draft)),
    );
    expect(await mails(to)).toBe(20);
  });

  it.runIf(inject('engine') === 'postgres')('two processes count together', async () => {
    const more = {
      ...env,
      DATABASE_URL: server.db.options.url!,
      PLINTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    const start = () => childServer({ services, env: { ...more, PLINTH_CONTRACT: 'fast' } });
    const children = [await start(), await start()];
    try {
      const phone = newPhone();
      const answers = await times(100, (at) => post('/phone/send-code', { phone }, {}, children[at % 2]));
      expect(statusesOf(answers)).toEqual({ 200: 3, 429: 97 });
    } finally {
      await Promise.all(children.map((child) => child.kill()));
    }
  });
});

describe('with limits that are set', () => {
  let strict: TestServer;
  const lines: string[] = [];
  const limits = {
    PLINTH_AUTH_RATE_LIMIT: 'on',
    PLINTH_AUTH_TEXTS_PER_PREFIX: '4/1h',
    PLINTH_AUTH_TEXTS_PER_COUNTRY: '6/1h',
    PLINTH_AUTH_TEXTS_PER_NETWORK: '5/1h',
    PLINTH_AUTH_MAILS_PER_NETWORK: '3/1h',
    PLINTH_AUTH_MAILS_PER_APP: '10/1h',
  };
  beforeAll(async () => {
    strict = await testServer({
      services,
      env: { ...env, ...limits },
      trustedProxy: ['127.0.0.1'],
      log: { write: (line) => void lines.push(line) },
    });
  });
  afterAll(() => strict.close());
  /** Networks that no other request comes from. */
  let networks = 0;
  const newNetwork = () => `10.20.${(networks += 1)}`;
  const text = (phone: string, ip: string) => post('/phone/send-code', { phone }, from(ip), strict);
  const signUp = (email: string, ip: string) =>
    post('/signup', { email, password, app_id: 'default' }, from(ip), strict);

  it('a block of numbers, a country and a network have theirs', async () => {
    const austrian = (prefix: string, at: number) => `+43${prefix}${1_000_000 + at}`;
    const block = await times(20, (at) => text(austrian('664', at), `${newNetwork()}.1`));
    expect([count(block, 200), count(block, 429)]).toEqual([4, 16]);
    const country = await times(20, (at) => text(austrian('676', at), `${newNetwork()}.1`));
    expect([count(country, 200), count(country, 429)]).toEqual([2, 18]);
    const one = newNetwork();
    const network = await times(20, (at) =>
      text(at % 2 ? `+4915112345${100 + at}` : `+336123456${10 + at}`, `${one}.${at + 1}`),
    );
    expect([count(network, 200), count(network, 429)]).toEqual([5, 15]);
    expect((await text('+41781234567', `${newNetwork()}.1`)).status).toBe(200);
    expect(lines.join('')).toContain('"limit":"textsPerCountry"');
    expect(lines.join('')).not.toContain('43664');
  });

  it('what fails for another reason uses nothing up', async () => {
    const [taken, one] = [newEmail(), newNetwork()];
    expect((await signUp(taken, `${newNetwork()}.1`)).status).toBe(201);
    const failed = await times(10, (at) => signUp(taken, `${one}.${at + 1}`));
    expect(count(failed, 409)).toBe(10);
    const opened = await times(10, (at) => signUp(newEmail(), `${one}.${at + 1}`));
    expect([count(opened, 201), count(opened, 429)]).toEqual([3, 7]);
    expect(await strict.db.sql`select from auth.users`).toHaveLength(4);
    const elsewhere = await times(10, () => signUp(newEmail(), `${newNetwork()}.1`));
    expect([count(elsewhere, 201), count(elsewhere, 429)]).toEqual([6, 4]);
  });
});

describe('a name that was chosen to be mailed', () => {
  it('carries no link: a new one is refused, an old one made harmless', async () => {
    const { session_token: token } = await api.signUp();
    const body = (name: string) => ({ token, body: { name, slug: newSlug() } });
    for (const name of ['Prize: https://evil.example', 'Go to evil.com now'])
      expect(await api.refusal('POST', '/organizations', body(name))).toEqual([
        400,
        'name: must not contain a link',
      ]);
    const org = await api.send('POST', '/organizations', body('Acme'));
    const change = (name: string, tagline: string) =>
      api.refusal('PATCH', `/organizations/${org.id}`, { token, body: { name, metadata: { tagline } } });
    expect(await change('www.evil.com', '')).toEqual([400, 'name: must not contain a link']);
    await server.db.sql`update auth.organizations set name = 'Win at https://evil.com' where id = ${org.id}`;
    expect((await change('Win at https://evil.com', 'written back'))[0]).toBe(200);
    const email = newEmail();
    await api.send('POST', `/organizations/${org.id}/invitations`, { token, body: { email } });
    const message = await api.message(email, 'invitation');
    expect(message.subject).toBe('Invitation to Win at https: //evil. com on Default app');
    expect(message.text).not.toContain('evil.com');
    expect(message.html).not.toContain('evil.com');
  });
});
