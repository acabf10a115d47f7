import { createServer, type AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openServer, versionProblem } from './server.ts';

test.each([
  [140_012, '14.12', false],
  [150_000, '15.0', true],
  [180_006, '18.6', true],
  [Number.NaN, 'of no version', false],
])('server version %i is accepted: %s', (number, name, accepted) => {
  const problem = versionProblem(number, name);
  if (accepted) expect(problem).toBeUndefined();
  else expect(problem).toContain(`PostgreSQL ${name}, Plinth needs PostgreSQL 15 or newer: set DATABASE_URL`);
});

test('a connection that is lost after its greeting fails what was asked, and nothing else', async () => {
  const unheard: unknown[] = [];
  const note = (error: unknown) => void unheard.push(error);
  process.on('unhandledRejection', note);
  const asked: string[] = [];
  const server = createServer((socket) => {
    // Sends AuthenticationOk and ReadyForQuery, and ends the connection at the first statement.
    socket.once('data', () => {
      socket.write(Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1'));
      socket.once('data', (statement) => {
        asked.push(statement.toString('latin1'));
        socket.destroy();
      });
    });
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    process.off('unhandledRejection', note);
    server.close();
  });
  const url = `postgres://root@127.0.0.1:${(server.address() as AddressInfo).port}/plinth`;
  await expect(openServer({ url, log: pino({ level: 'silent' }) })).rejects.toThrow();
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toEqual([expect.stringContaining('server_version_num')]);
  expect(unheard).toEqual([]);
});
