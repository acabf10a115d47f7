import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { childServer } from '../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../testing/database.ts';
import { listen } from './listen.ts';

let db: ChildDatabase;
beforeAll(async () => {
  db = await childDatabase(['authz']);
});
afterAll(() => db.remove());

/** Opens connections that send nothing; `open` holds those that are not closed yet. */
function silent(url: string, count: number) {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  for (let number = 0; number < count; number++) {
    const socket = connect(Number(port), hostname);
    open.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => open.delete(socket))
      .resume();
  }
  return { open, close: () => open.forEach((socket) => socket.destroy()) };
}

test('more silent connections than there are descriptors keep nobody out, and nothing fails after them', async () => {
  const server = await childServer({
    services: ['authz'],
    descriptors: 256,
    env: { PLINTH_CONTRACT: 'fast', ...db.env },
  });
  let number = 0;
  const write = async () => {
    const body = { name: `Role ${number++}`, description: 'x'.repeat(500) };
    return (await server.request('POST', '/v1/roles', { body })).status;
  };
  expect(await write()).toBe(201);
  const crowd = silent(server.url, 600);
  await expect.poll(() => crowd.open.size).toBeLessThan(256);
  for (let round = 0; round < 50; round++) expect(await write()).toBe(201);
  // The remaining connections are closed because they send nothing.
  await expect.poll(() => crowd.open.size, { timeout: 30_000 }).toBe(0);
  for (let round = 0; round < 10; round++) expect(await write()).toBe(201);
  expect(await server.kill()).toBe(0);
  crowd.close();
}, 120_000);

test('a connection that sends nothing, or half a head, is closed in time', async () => {
  const limits = { headersTimeout: 200, connectionsCheckingInterval: 50 };
  const { port, close } = await listen(
    (_request, response) => response.end(),
    { host: '127.0.0.1', port: 0 },
    limits,
  );
  const crowd = silent(`http://127.0.0.1:${port}`, 3);
  const [half] = crowd.open;
  half?.write('GET / HTTP/1.1\r\nHost: x');
  await expect.poll(() => crowd.open.size).toBe(0);
  await close(0);
});
