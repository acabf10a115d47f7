import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
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
