import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { testSealer, testServer, type TestServer, type TestServerOptions } from '../../../testing/server.ts';
import { sealContent } from '../../../notify/message-content.ts';
import { messageStore } from '../../../notify/messages.store.ts';
import { messageTable } from './messages.store.ts';
import { newEmail, newPhone, otherApp, tools } from '../testing/index.ts';
import { messagesTo } from '../testing/messages.store.ts';

const password = 'correct horse battery staple';
const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1', PLINTH_AUTH_RATE_LIMIT: 'off' };
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(more: Record<string, string>, options: Partial<TestServerOptions> = {}) {
  const server = await testServer({
    services: ['auth'],
    ...options,
    env: { ...env, ...more },
  });
  closing.push(() => server.close());
  return { server, api: tools(server) };
}

interface Mail {
  readonly from: string;
  readonly to: string | undefined;
  readonly source: string;
}

/** A mail server on its own port, which can be down and can refuse mails. */
class MailServer {
  readonly mails: Mail[] = [];
  refuses = false;
  #port = 0;
  #smtp: SMTPServer | undefined;

  get url(): string {
    return `smtp://127.0.0.1:${this.#port}`;
  }

  /** The mails to an address. */
  to(address: string): Mail[] {
    return this.mails.filter(({ to }) => to === address);
  }

  /** Listens, at the same port as before. */
  async open(): Promise<void> {
    this.#smtp = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      disableReverseLookup: true,
      // Connections that stay open are cut off.
      closeTimeout: 50,
      onData: (stream, { envelope: { mailFrom, rcptTo } }, done) => {
        let source = '';
        stream.on('data', (piece: Buffer) => (source += piece.toString()));
        stream.on('end', () => {
          if (this.refuses) return done(Object.assign(new Error('try later'), { responseCode: 451 }));
          const from = mailFrom === false ? '' : mailFrom.address;
          this.mails.push({ from, to: rcptTo[0]?.address, source });
          done();
        });
      },
    });
    const listening = this.#smtp.listen(this.#port, '127.0.0.1');
    await once(listening, 'listening');
    this.#port = (listening.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#smtp!.close(() => resolve()));
  }
}

interface Posted {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An endpoint for text messages that responds with these statuses in turn, and then always with the last one. */
async function textServer(...statuses: number[]) {
  const posted: Posted[] = [];
  const http: Server = createServer((req, res) => {
    let body = '';
    req.on('data', (piece: Buffer) => (body += piece.toString()));
    req.on('end', () => {
      posted.push({ headers: req.headers, body });
      res.writeHead((statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 200).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  closing.push(() => {
    http.closeAllConnections();
    http.close();
  });
  return { posted, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/texts` };
}

/** The text of a part in quoted-printable, its characters of markup unescaped. */
const unwrapped = (part: string) =>
  part.replaceAll('=\r\n', '').replaceAll('=3D', '=').replaceAll('&amp;', '&');
/** Waits until the check returns true. */
const until = (check: () => unknown) =>
  vi.waitFor(async () => expect(await check()).toBe(true), { timeout: 30_000, interval: 20 });
/** Makes waiting messages due now. */
const hurry = (server: TestServer) =>
  server.db
    .sql`update auth.messages set next_attempt_at = now() - interval '1 second' where state = 'queued'`;

/** Queues 40 messages. */
const queue = (server: TestServer, name: string) => server.db.sql`
  insert into auth.messages (id, tenant_id, app_id, channel, recipient, kind, subject, content_box)
  select ${name} || '_' || n, 'default', 'default', 'email', ${name} || '-' || n || '@example.com', 'verify_email', 'Hello',
    ${sealContent(testSealer, 'auth', 'default', { text: 'Hello', html: null, token: null, code: null })}
  from generate_series(1, 40) as n`;
const queued = async (server: TestServer) => {
  const [{ left }] = await server.db.sql<[{ left: number }]>`
    select count(*)::int as left from auth.messages where state = 'queued'`;
  return left;
};

describe('mail by SMTP', () => {
  const mail = new MailServer();
  const lines: string[] = [];
  let server: TestServer;
  let api: ReturnType<typeof tools>;
  beforeAll(async () => {
    await mail.open();
    server = await testServer({
      services: ['auth'],
      env: { ...env, PLINTH_AUTH_SMTP_URL: mail.url, PLINTH_AUTH_MAIL_FROM: 'Ada <ada@example.com>' },
      log: { write: (line) => void lines.push(line) },
    });
    api = tools(server);
  });
  afterAll(async () => {
    await server.close();
    await mail.close();
  });

  it('is sent with the commit, and what it said is kept nowhere', async () => {
    const { user } = await api.signUp();
    const email = user.email!;
    await until(() => mail.to(email).length === 1);
    const [{ from, source }] = mail.to(email) as [Mail];
    expect(from).toBe('ada@example.com');
    expect(source).toMatch(/^From: Ada <ada@example.com>\r$/m);
    expect(source).toMatch(/^Message-ID: <msg_[0-9a-z]{26}@plinth>\r$/m);
    expect(source).toMatch(/^Subject: Verify your email address for Default app\r$/m);
    const token = /vrf_[0-9A-Za-z]{55}/.exec(source.replaceAll('=\r\n', ''))?.[0];
    expect(await api.send('POST', '/verify-email', { token: null, body: { token } })).toEqual({
      status: 'email_verified',
    });
    await until(async () => (await messagesTo(server.db.sql, email))[0]!.state === 'sent');
    expect(await messagesTo(server.db.sql, email)).toMatchObject([
      { state: 'sent', attempts: 1, text: '', html: null, token: null, code: null, kept: false },
    ]);
  });

  it('names the company of the branding, in the subject and in both parts, and gets no header from it', async () => {
    const app = await otherApp(server, 'default');
    const request = {
      headers: { 'X-App-ID': app.id },
      body: { app_id: app.id, company_name: 'Engines', logo_url: 'https://cdn.example.com/logo.png' },
    };
    const { id } = await api.send('POST', '/branding', request);
    const { user } = await api.signUp({ app_id: app.id });
    await until(() => mail.to(user.email!).length === 1);
    const { source } = mail.to(user.email!)[0]!;
    expect(source).toMatch(/^Subject: Verify your email address for Engines\r$/m);
    const [, plain, html] = source.split(/^Content-Type: text\/(?:plain|html)/m).map(unwrapped);
    for (const part of [plain, html]) expect(part).toMatch(/pages\/verify-email\?token=vrf_[0-9A-Za-z]{55}&/);
    expect(plain).toContain('Confirm that this is your email address for Engines.');
    expect(html).toContain('<img src="https://cdn.example.com/logo.png" alt="Engines"');

    // No request can set this name; a mail has no more headers even so.
    const hostile = 'Engines\r\nBcc: eve@example.com\r\n\r\n<script>';
    await server.db.sql`update auth.branding set company_name = ${hostile} where id = ${id}`;
    const { user: other } = await api.signUp({ app_id: app.id });
    await until(() => mail.to(other.email!).length === 1);
    expect(mail.to('eve@example.com')).toEqual([]);
    const [head] = mail.to(other.email!)[0]!.source.split('\r\n\r\n');
    expect(head).toMatch(/^Subject: Verify your email address for Engines {2}Bcc:\s+eve@example\.com/m);
    expect(head).not.toMatch(/^Bcc:/m);
  });

  it('comes from the address of the app', async () => {
    const app = await otherApp(server);
    await server.db.sql`
      update auth.apps set settings = settings || '{"mail_from": "shop@example.com"}' where id = ${app.id}`;
    const { user } = await api.signUp({ app_id: app.id });
    await until(() => mail.to(user.email!).length === 1);
    expect(mail.to(user.email!)[0]!.from).toBe('shop@example.com');
  });

  it('waits while the server is away: sign-up is 201, the mail comes later', async () => {
    await mail.close();
    const email = newEmail();
    const body = { email, password, app_id: 'default' };
    const answer = await server.request('POST', '/auth/v1/auth/signup', { token: null, body });
    expect(answer.status).toBe(201);
    await until(async () => (await messagesTo(server.db.sql, email))[0]!.attempts > 0);
    expect((await messagesTo(server.db.sql, email))[0]!.state).toBe('queued');
    await mail.open();
    await hurry(server);
    await until(async () => (await messagesTo(server.db.sql, email))[0]!.state === 'sent');
    expect(mail.to(email)).toHaveLength(1);
    const log = lines.join('');
    expect(log).toContain('a message was not sent and will be tried again');
    expect([log.includes(email), log.includes('vrf_')]).toEqual([false, false]);
  });

  it('is given up after ten failures', async () => {
    mail.refuses = true;
    const { user } = await api.signUp();
    await until(async () => {
      await hurry(server);
      return (await messagesTo(server.db.sql, user.email))[0]!.state === 'failed';
    });
    mail.refuses = false;
    expect(await messagesTo(server.db.sql, user.email)).toMatchObject([
      { state: 'failed', attempts: 10, text: '', html: null, token: null, code: null, kept: false },
    ]);
    expect(mail.to(user.email!)).toEqual([]);
  });

  it('many messages are each sent once', async () => {
    await queue(server, 'many');
    await until(async () => (await queued(server)) === 0);
    const sent = mail.mails.map(({ to }) => to).filter((to) => to?.startsWith('many-'));
    expect([sent.length, new Set(sent).size]).toEqual([40, 40]);
  });
});

describe('texts by HTTP', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

  it('are posted with a signature, again after a failure', async () => {
    const { posted, url } = await textServer(500, 302, 200);
    const { server } = await start({ PLINTH_AUTH_SMS_URL: url, PLINTH_AUTH_SMS_SECRET: secret });
    const phone = newPhone();
    const sent = await server.request('POST', '/auth/v1/auth/phone/send-code', {
      token: null,
      body: { phone },
    });
    expect(sent.status).toBe(200);
    await until(async () => {
      await hurry(server);
      return posted.length === 3;
    });
    for (const { headers, body } of posted) {
      const verified = new Verifier(secret).verify(body, headers as Record<string, string>);
      expect(verified).toEqual({ to: phone, text: expect.stringMatching(/^\d{6} is your code/) });
    }
    expect(new Set(posted.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const code = (JSON.parse(posted[2]!.body) as { text: string }).text.slice(0, 6);
    const verified = await server.request('POST', '/auth/v1/auth/phone/verify', {
      token: null,
      body: { phone, code },
    });
    expect(verified.status).toBe(200);
    await until(async () => (await messagesTo(server.db.sql, phone))[0]!.state === 'sent');
    expect((await messagesTo(server.db.sql, phone))[0]).toMatchObject({ text: '', code: null, attempts: 3 });
  });
});

describe('in production', () => {
  it('of many processes each message is taken by one, and again when that one died', async () => {
    const { server } = await start({}, { production: true });
    await queue(server, 'shared');
    const take = () => messageStore(server.db.sql, messageTable).claim(['email'], 10);
    const taken = (await Promise.all(Array.from({ length: 8 }, take))).flat().map(({ id }) => id);
    expect([taken.length, new Set(taken).size]).toEqual([40, 40]);
    expect(await take()).toEqual([]);
    await server.db
      .sql`update auth.messages set claimed_until = now() - interval '1 second' where id = 'shared_1'`;
    expect((await take()).map(({ id }) => id)).toEqual(['shared_1']);
    expect(await messageStore(server.db.sql, messageTable).claim(['sms'], 10)).toEqual([]);
  });

  it('without drivers mail waits, texts are refused, and there is no mailbox', async () => {
    const lines: string[] = [];
    const { server, api } = await start(
      {},
      { production: true, log: { write: (line) => void lines.push(line) } },
    );
    expect(lines.join('')).toContain('PLINTH_AUTH_SMTP_URL is not set: mail waits until it is');
    const { user, session_token } = await api.signUp();
    const [waiting] = await messagesTo(server.db.sql, user.email);
    expect(waiting).toMatchObject({ state: 'queued', attempts: 0, token: null, kept: true });
    expect(waiting!.text).toContain('?token=vrf_');
    const unset = [400, 'sms is not configured'];
    const phone = newPhone();
    expect(await api.refusal('POST', '/phone/send-code', { token: null, body: { phone } })).toEqual(unset);
    expect(
      await api.refusal('POST', '/mfa/enroll', { token: session_token, body: { method: 'sms', phone } }),
    ).toEqual(unset);
    const none = [404, 'outbox not found'];
    expect(await api.refusal('GET', '/dev/outbox')).toEqual(none);
    expect(await api.refusal('GET', '/dev/outbox/msg_01m7w6qgepfq9s8vbawh33jbe6')).toEqual(none);
    expect(await api.refusal('DELETE', '/dev/outbox')).toEqual(none);

    await server.db.sql`
      insert into auth.enrollments (id, tenant_id, user_id, method, verified, phone)
      values (${`mfa_${user.id}`}, 'default', ${user.id}, 'sms', true, ${phone})`;
    const challenge = await api.send('POST', '/signin', {
      token: null,
      body: { email: user.email, password, app_id: 'default' },
    });
    expect(challenge.methods).toEqual(['sms']);
    const { challenge_token } = challenge;
    expect(
      await api.refusal('POST', '/mfa/challenge/send', { token: null, body: { challenge_token } }),
    ).toEqual(unset);
  });
});
