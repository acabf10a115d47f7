import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { Webhook as Verifier } from 'standardwebhooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { testServer, type TestServer, type TestServerOptions } from '../../testing/server.ts';
import { newEmail, newPhone, tools } from './testing.ts';

const password = 'correct horse battery staple';
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(env: Record<string, string>, options: Partial<TestServerOptions> = {}) {
  const server = await testServer({
    services: ['auth'],
    ...options,
    env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1', PLINTH_AUTH_RATE_LIMIT: 'off', ...env },
  });
  closing.push(() => server.close());
  return { server, api: tools(server) };
}

interface Mail {
  readonly from: string;
  readonly to: string[];
  readonly source: string;
}

/** A mail server on a port of its own. `failures` are the commands that it refuses before it takes one. */
async function mailServer({ port = 0, failures = 0 } = {}) {
  const mails: Mail[] = [];
  let left = failures;
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    onData(stream, session, done) {
      let source = '';
      stream.on('data', (piece: Buffer) => (source += piece.toString()));
      stream.on('end', () => {
        if (left-- > 0) return done(Object.assign(new Error('try later'), { responseCode: 451 }));
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          source,
        });
        done();
      });
    },
  });
  const listening = smtp.listen(port, '127.0.0.1');
  await once(listening, 'listening');
  closing.push(() => new Promise<void>((resolve) => smtp.close(() => resolve())));
  const address = listening.address() as AddressInfo;
  return { mails, port: address.port, url: `smtp://127.0.0.1:${address.port}` };
}

interface Posted {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An endpoint for text messages, which answers these statuses one after the other, and the last one from then on. */
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

/** Waits until something is so. */
const until = (check: () => unknown) =>
  vi.waitFor(async () => expect(await check()).toBe(true), { timeout: 30_000, interval: 20 });
const messagesTo = (server: TestServer, to: string) =>
  server.db.sql<
    {
      state: string;
      attempts: number;
      text: string;
      html: string | null;
      token: string | null;
      code: string | null;
    }[]
  >`select state, attempts, text, html, token, code from auth.messages where recipient = ${to}`;
/** Makes what waits due now. */
const hurry = (server: TestServer) =>
  server.db
    .sql`update auth.messages set next_attempt_at = now() - interval '1 second' where state = 'queued'`;

describe('mail by SMTP', () => {
  it('is sent with the commit, and what it said is kept nowhere', async () => {
    const { mails, url } = await mailServer();
    const { server, api } = await start({
      PLINTH_AUTH_SMTP_URL: url,
      PLINTH_AUTH_MAIL_FROM: 'Ada <ada@example.com>',
    });
    const { user } = await api.signUp();
    await until(() => mails.length === 1);
    const [mail] = mails;
    expect([mail!.from, mail!.to]).toEqual(['ada@example.com', [user.email]]);
    expect(mail!.source).toMatch(/^From: Ada <ada@example.com>\r$/m);
    expect(mail!.source).toMatch(/^Message-ID: <msg_[0-9a-z]{26}@plinth>\r$/m);
    expect(mail!.source).toMatch(/^Subject: Verify your email address for Default app\r$/m);
    const token = /vrf_[0-9A-Za-z]{55}/.exec(mail!.source.replaceAll('=\r\n', ''))?.[0];
    expect(token).toBeDefined();
    expect(await api.send('POST', '/verify-email', { token: null, body: { token } })).toEqual({
      status: 'email_verified',
    });
    await until(async () => (await messagesTo(server, user.email!))[0]!.state === 'sent');
    expect(await messagesTo(server, user.email!)).toEqual([
      { state: 'sent', attempts: 1, text: '', html: null, token: null, code: null },
    ]);
  });

  it('comes from the address of the app', async () => {
    const { mails, url } = await mailServer();
    const { server, api } = await start({ PLINTH_AUTH_SMTP_URL: url });
    await server.db.sql`update auth.apps set settings = settings || '{"mail_from": "shop@example.com"}'`;
    await api.signUp();
    await until(() => mails.length === 1);
    expect(mails[0]!.from).toBe('shop@example.com');
  });

  it('waits while the server is away: sign-up is 201, the mail comes later', async () => {
    const { port, url } = await mailServer();
    await closing.pop()!();
    const lines: string[] = [];
    const { server, api } = await start(
      { PLINTH_AUTH_SMTP_URL: url },
      { log: { write: (line) => void lines.push(line) } },
    );
    const email = newEmail();
    const answer = await server.request('POST', '/auth/v1/auth/signup', {
      token: null,
      body: { email, password, app_id: 'default' },
    });
    expect(answer.status).toBe(201);
    await until(async () => (await messagesTo(server, email))[0]!.attempts > 0);
    const [waiting] = await messagesTo(server, email);
    expect(waiting!.state).toBe('queued');
    const { mails } = await mailServer({ port });
    await hurry(server);
    await until(() => mails.length === 1);
    await until(async () => (await messagesTo(server, email))[0]!.state === 'sent');
    expect(mails[0]!.to).toEqual([email]);
    const warned = lines.filter((line) => line.includes('will be tried again'));
    expect(warned.length).toBeGreaterThan(0);
    expect(lines.join('')).not.toContain(email);
    expect(lines.join('')).not.toContain('vrf_');
    expect(api).toBeDefined();
  });

  it('is given up after ten failures', async () => {
    const { mails, url } = await mailServer({ failures: 100 });
    const { server, api } = await start({ PLINTH_AUTH_SMTP_URL: url });
    const { user } = await api.signUp();
    await until(async () => {
      await hurry(server);
      return (await messagesTo(server, user.email!))[0]!.state === 'failed';
    });
    expect(await messagesTo(server, user.email!)).toEqual([
      { state: 'failed', attempts: 10, text: '', html: null, token: null, code: null },
    ]);
    expect(mails).toEqual([]);
  });

  it('many messages are each sent once', async () => {
    const { mails, url } = await mailServer();
    const { server } = await start({ PLINTH_AUTH_SMTP_URL: url });
    await server.db.sql`
      insert into auth.messages (id, tenant_id, app_id, channel, recipient, kind, subject, text)
      select 'msg_' || n, 'default', 'default', 'email', 'user-' || n || '@example.com', 'verify_email', 'Hello', 'Hello'
      from generate_series(1, 40) as n`;
    await until(() => mails.length >= 40);
    await until(async () => {
      const [{ left }] = await server.db.sql<[{ left: number }]>`
        select count(*)::int as left from auth.messages where state = 'queued'`;
      return left === 0;
    });
    expect(new Set(mails.map(({ to }) => to[0])).size).toBe(40);
    expect(mails).toHaveLength(40);
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
    await until(async () => (await messagesTo(server, phone))[0]!.state === 'sent');
    expect((await messagesTo(server, phone))[0]).toMatchObject({ text: '', code: null, attempts: 3 });
  });
});

describe('in production', () => {
  it('without drivers mail waits, texts are refused, and the outbox is none', async () => {
    const lines: string[] = [];
    const { server, api } = await start(
      {},
      { production: true, log: { write: (line) => void lines.push(line) } },
    );
    expect(lines.join('')).toContain('PLINTH_AUTH_SMTP_URL is not set: mail waits until it is');
    const { user, session_token } = await api.signUp();
    const [waiting] = await messagesTo(server, user.email!);
    expect(waiting).toMatchObject({ state: 'queued', attempts: 0, token: null });
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
