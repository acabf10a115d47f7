import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { oddities, oddServer, type Oddity } from '../testing/odd-server.ts';
import { smtpDriver } from './smtp-driver.ts';

const message = {
  id: 'msg_1',
  to: 'ada@example.com',
  subject: 'Welcome',
  mail_from: null,
  text: 'Hello',
  html: null,
};

/** A mail server whose answer to the first command never ends, a line every few milliseconds. */
async function trickling(): Promise<{ url: string; open: Set<Socket> }> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.write('220 mail.example\r\n');
    socket.once('data', () => {
      const timer = setInterval(() => socket.write('250-still thinking\r\n'), 10);
      socket.on('close', () => clearInterval(timer));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, open };
}

it('an attempt ends with its connection, however often the mail server says something', async () => {
  const { url, open } = await trickling();
  const driver = smtpDriver(url, 'plinth@example.com', 300);
  const began = performance.now();
  const sent = Array.from({ length: 8 }, () => driver.send(message));
  for (const one of sent) await expect(one).rejects.toMatchObject({ code: 'EABORT' });
  expect(performance.now() - began).toBeGreaterThanOrEqual(299);
  await expect.poll(() => open.size, { timeout: 10_000 }).toBe(0);
  await driver.close();
});

it.each(oddities)('a mail server that %s fails the attempt, and nothing else', async (_, oddity) => {
  const driver = smtpDriver(`smtp://127.0.0.1:${await oddServer(oddity)}`, 'plinth@example.com', 300);
  await Promise.all([1, 2].map(() => expect(driver.send(message)).rejects.toThrow()));
  await driver.close();
});

/** A mail server whose answer to one command is odd; after the whole mail, it may still do something to the idle connection. */
const conversing =
  (odd: Readonly<Record<string, Oddity>>): Oddity =>
  (socket) => {
    let isMail = false;
    socket.write('220 mail.example ESMTP\r\n');
    socket.on('data', (bytes) => {
      const text = String(bytes);
      if (isMail && !text.endsWith('\r\n.\r\n')) return;
      const command = isMail ? 'MAILED' : (/^[A-Z]+/.exec(text)?.[0] ?? '');
      isMail = command === 'DATA';
      if (odd[command] !== undefined) return void odd[command](socket);
      socket.write(isMail ? '354 go on\r\n' : '250 ok\r\n');
    });
  };
const noise = oddities.find(([name]) => name === 'sends noise at once')![1];
const says =
  (text: string): Oddity =>
  (socket) =>
    void socket.write(text);

it.each<[string, Readonly<Record<string, Oddity>>]>([
  ['noise after the greeting', { EHLO: noise, HELO: noise }],
  ['noise about the recipient', { RCPT: noise }],
  ['a refusal with odd bytes', { RCPT: says('550 \0\xff\u202e\r\n') }],
  ['a status that is none', { MAIL: says('999 what\r\n') }],
  ['noise before the mail', { DATA: noise }],
  ['noise after the mail', { MAILED: noise }],
  ['the end of the connection after the mail', { MAILED: (socket) => void socket.end() }],
  ['a reset after the mail', { MAILED: (socket) => void socket.resetAndDestroy() }],
])('%s fails the attempt, and nothing else', async (_, odd) => {
  const driver = smtpDriver(
    `smtp://127.0.0.1:${await oddServer(conversing(odd))}`,
    'plinth@example.com',
    300,
  );
  await Promise.all([1, 2].map(() => expect(driver.send(message)).rejects.toThrow()));
  await driver.close();
});

it.each<[string, Oddity]>([
  ['noise', noise],
  ['an error', says('421 going away\r\n')],
  ['a reset', (socket) => void socket.resetAndDestroy()],
])('%s on a connection that is idle fails at most the next attempt', async (_, idle) => {
  const over = new Set<Socket>();
  const port = await oddServer(
    conversing({
      MAILED: (socket) => {
        socket.write('250 queued\r\n');
        setTimeout(() => {
          idle(socket);
          over.add(socket);
        }, 20);
      },
    }),
  );
  const driver = smtpDriver(`smtp://127.0.0.1:${port}`, 'plinth@example.com', 5_000);
  await driver.send(message);
  await expect.poll(() => over.size).toBe(1);
  await driver.send({ ...message, id: 'msg_2' }).catch(() => {});
  await driver.send({ ...message, id: 'msg_3' });
  await driver.close();
});
