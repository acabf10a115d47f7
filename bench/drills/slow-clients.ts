/** Hundreds of clients that send and take a gibibyte each, slowly: how much memory the server needs for them. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { headers } from '../place.ts';
import { atMost, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { expectStatus, headOf, openConnection } from '../storage/connection.ts';
import { mebibyte } from '../storage/content.ts';
import { pathOf, withStorage } from '../storage/service.ts';

const size = 1024 * mebibyte;
const chunk = Buffer.alloc(64 * 1024, 'x');
/** The milliseconds between two chunks that a client sends or takes. */
const pace = 250;

export function slowClients(): AsyncIterable<Row> {
  const clients = sized(200, 20);
  const path = `memory for ${round(clients)} slow clients that send 1 GiB and ${round(clients)} that take it`;
  return withStorage(
    path,
    '≤ 300 MiB',
    async function* ({ port }) {
      await store(port);
      const before = await memory(port);
      const sockets = await Promise.all(
        Array.from({ length: 2 * clients }, (_, n) => (n < clients ? sender(port, n) : taker(port))),
      );
      let most = 0;
      for (const until = performance.now() + 1_000 * sized(20, 5); performance.now() < until;) {
        await delay(500);
        most = Math.max(most, await memory(port));
      }
      const gone = sockets.filter(({ destroyed }) => destroyed).length;
      for (const socket of sockets) socket.destroy();
      if (gone > 0) throw new Error(`${gone} of the clients were cut off`);
      yield atMost(most - before, 300, { path, unit: 'MiB', measured: `besides ${round(before)} MiB` });
    },
    { PLINTH_STORAGE_MAX_TRANSFERS: '1000' },
  );
}

/** Stores the object that is taken. */
async function store(port: number): Promise<void> {
  const connection = await openConnection(port);
  const head = headOf('PUT', pathOf('large'), { ...headers, ...described });
  const pieces = Array.from({ length: size / mebibyte }, () => piece);
  expectStatus(await connection.ask(head, ...pieces), 201);
  connection.close();
}

const piece = Buffer.alloc(mebibyte, 'y');
const described = { 'Content-Type': 'application/octet-stream', 'Content-Length': size };

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function sender(port: number, n: number): Promise<Socket> {
  const socket = await opened(port);
  socket.write(headOf('PUT', pathOf(`slow-${n}`), { ...headers, ...described }));
  const timer = setInterval(() => {
    if (!socket.writableNeedDrain) socket.write(chunk);
  }, pace);
  socket.on('close', () => clearInterval(timer));
  return socket;
}

async function taker(port: number): Promise<Socket> {
  const socket = await opened(port);
  socket.write(headOf('GET', pathOf('large'), headers));
  const timer = setInterval(() => void socket.read(), pace);
  socket.on('close', () => clearInterval(timer));
  return socket;
}

/** The resident memory of the server in MiB. */
async function memory(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text();
  const [, bytes] = /^process_resident_memory_bytes (\d+)/m.exec(text) ?? [];
  if (bytes === undefined) throw new Error('the server does not tell how much memory it has');
  return Number(bytes) / mebibyte;
}
