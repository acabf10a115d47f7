import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { listen, type Listening } from './listen.ts';

let listening: Listening;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listening.close(0);
});

/** Starts a server that answers each request, with its path and `bytes` bytes, when the test tells it to. */
async function slowServer(bytes = 0) {
  const open: { path: string; res: ServerResponse; readonly answer: () => void }[] = [];
  let most = 0;
  listening = await listen(
    (req, res) => {
      const answer = () => {
        open.splice(
          open.findIndex((one) => one.res === res),
          1,
        );
        res.end(`${req.url}${'x'.repeat(bytes)}`);
      };
      if (req.method === 'POST') req.resume().once('end', () => open.push({ path: req.url!, res, answer }));
      else open.push({ path: req.url!, res, answer });
      most = Math.max(most, open.length);
    },
    { host: '127.0.0.1', port: 0 },
  );
  return { open, most: () => most };
}

function client() {
  const socket = connect(listening.port, '127.0.0.1');
  sockets.push(socket);
  let text = '';
  socket
    .setEncoding('latin1')
    .on('data', (part: string) => (text += part))
    .on('error', () => {});
  return { socket, text: () => text, paths: () => [...text.matchAll(/^\/\d+/gm)].map(([path]) => path) };
}
const gets = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `GET /${from + index} HTTP/1.1\r\nHost: x\r\n\r\n`).join(
    '',
  );
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('at most 16 requests of a connection are under way, and all are answered in their order', async () => {
  const { open, most } = await slowServer();
  const { socket, paths } = client();
  socket.write(gets(0, 5_000));
  await expect.poll(() => open.length).toBe(16);
  for (let n = 0; n < 10; n++) await turn();
  expect(open.length).toBe(16);
  while (paths().length < 5_000) {
    // The last request is answered first: the order on the wire is not the order in which requests end.
    open.at(-1)?.answer();
    await turn();
  }
  expect(paths()).toEqual(Array.from({ length: 5_000 }, (_, index) => `/${index}`));
  expect(most()).toBe(16);
}, 30_000);

test('what is answered at once keeps nobody waiting: others have their turn after 16', async () => {
  let answered = 0;
  let most = 0;
  listening = await listen((_req, res) => void (res.end('.'), answered++), { host: '127.0.0.1', port: 0 });
  const { socket } = client();
  socket.write(gets(0, 1_000));
  while (answered < 1_000) {
    const before = answered;
    await turn();
    most = Math.max(most, answered - before);
  }
  expect(most).toBeLessThanOrEqual(2 * 16);
});

test('nothing is read while answers wait to be taken, and another connection is served', async () => {
  const { open } = await slowServer(200_000);
  const { socket, paths } = client();
  socket.pause();
  // This is far more than the socket buffers of both sides hold.
  let taken = 0;
  const chunk = gets(0, 1_000);
  const write = () => {
    while (taken < 400 && socket.write(chunk)) taken++;
  };
  socket.on('drain', write);
  write();
  for (let n = 0, quiet = 0; quiet < 50; n++) {
    quiet = open.length === 0 ? quiet + 1 : 0;
    for (const one of [...open]) one.answer();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const left = socket.writableLength;
  expect(left).toBeGreaterThan(0);
  const other = client();
  other.socket.write(gets(7, 8));
  await expect.poll(() => open.length).toBe(1);
  open[0]!.answer();
  await expect.poll(other.paths).toEqual(['/7']);
  socket.resume();
  await expect
    .poll(() => {
      for (const one of [...open]) one.answer();
      return paths().length;
    })
    .toBeGreaterThan(100);
}, 30_000);

test('a body that is longer than a chunk is read to its end behind others', async () => {
  const { open } = await slowServer();
  const { socket, paths } = client();
  const body = 'x'.repeat(500_000);
  socket.write(
    gets(0, 15) +
      `POST /15 HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
      gets(16, 40),
  );
  await expect
    .poll(() => {
      open[0]?.answer();
      return paths().length;
    })
    .toBe(40);
});

test('a connection that goes away takes what waits on it along', async () => {
  const { open } = await slowServer();
  const { socket } = client();
  socket.write(gets(0, 300));
  await expect.poll(() => open.length).toBe(16);
  socket.destroy();
  let begun = 0;
  const answerAll = () => {
    begun += open.length;
    for (const one of [...open]) one.answer();
  };
  await expect
    .poll(() => {
      answerAll();
      return open.length;
    })
    .toBe(0);
  for (let n = 0; n < 10; n++) await turn();
  answerAll();
  expect(begun).toBeLessThan(100);
});

test('when the server ends, the last answer under way on each connection says so', async () => {
  const { open } = await slowServer();
  const [one, two] = [client(), client()];
  one.socket.write(gets(0, 1));
  await expect.poll(() => open.length).toBe(1);
  two.socket.write(gets(1, 4));
  await expect.poll(() => open.length).toBe(4);
  const closed = listening.close(5_000);
  for (const { answer } of [...open]) answer();
  await closed;
  await expect.poll(one.text).toMatch(/^Connection: close\r$/m);
  await expect.poll(two.paths).toEqual(['/1', '/2', '/3']);
  expect(two.text().match(/^Connection: \S+/gm)).toEqual([
    'Connection: keep-alive',
    'Connection: keep-alive',
    'Connection: close',
  ]);
});

test('a request that comes on an old connection while the server ends is the last on it', async () => {
  const { open } = await slowServer();
  const busy = client();
  busy.socket.write(gets(0, 1));
  await expect.poll(() => open.length).toBe(1);
  const { socket, text, paths } = client();
  socket.write('GET /1 HTTP/1.1\r\nHo');
  await turn();
  const closed = listening.close(5_000);
  socket.write(`st: x\r\n\r\n${gets(2, 3)}`);
  await expect.poll(() => open.length).toBe(2);
  for (const { answer } of [...open]) answer();
  await closed;
  await expect.poll(paths).toEqual(['/1']);
  expect(text()).toMatch(/^Connection: close\r$/m);
});
