/**
 * Connections that carry content: raw sockets with one request in flight on each. The bytes of a request are prepared and shared, and
 * those of an answer are counted instead of kept, so that the clients take as little as possible from the servers they measure.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { scale } from '../scale.ts';

export interface Answer {
  readonly status: number;
  readonly head: string;
  /** The size of the body. */
  readonly size: number;
}

export interface Connection {
  /** Sends a request and waits until its answer has arrived whole. */
  ask(...pieces: readonly Uint8Array[]): Promise<Answer>;
  close(): void;
}

export async function openConnection(port: number): Promise<Connection> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  let asked: PromiseWithResolvers<Answer> | undefined;
  const reader = answerReader((answer) => {
    const { resolve } = asked!;
    asked = undefined;
    resolve(answer);
  });
  socket.on('data', reader);
  socket.on('error', (error) => asked?.reject(error));
  socket.on('close', () => asked?.reject(new Error('the server closed a connection')));
  return {
    ask(...pieces) {
      asked = Promise.withResolvers();
      for (const piece of pieces) socket.write(piece);
      return asked.promise;
    },
    close: () => socket.destroy(),
  };
}

/** Takes the chunks of a socket and tells of each answer when its last byte is there. */
function answerReader(tell: (answer: Answer) => void): (chunk: Buffer) => void {
  let received: Buffer = Buffer.alloc(0);
  let head: string | undefined;
  let [size, left] = [0, 0];
  return (chunk) => {
    if (head !== undefined) left -= chunk.length;
    else {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return;
      head = received.toString('latin1', 0, end);
      size = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      left = size - (received.length - end - 4);
    }
    if (left > 0) return;
    const answer = { status: Number(head.slice(9, 12)), head, size };
    [received, head] = [Buffer.alloc(0), undefined];
    tell(answer);
  };
}

/** The head of a request, with the size of its body. */
export function headOf(method: string, path: string, headers: Readonly<Record<string, string | number>>) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('')}\r\n`);
}

/** @throws Error unless the answer has one of these statuses */
export function expectStatus({ status, head }: Answer, ...wanted: readonly number[]): void {
  if (!wanted.includes(status)) throw new Error(`unexpected answer: ${head}`);
}

interface Load {
  readonly port: number;
  readonly connections: number;
  readonly seconds?: number;
  /** One transfer; it throws when it fails. */
  readonly transfer: (connection: Connection) => Promise<void>;
}

/** Transfers again and again on so many connections, and returns the transfers per second. */
export async function transfersPerSecond({
  port,
  connections,
  seconds = 3,
  transfer,
}: Load): Promise<number> {
  const open = await Promise.all(Array.from({ length: connections }, () => openConnection(port)));
  const began = performance.now();
  const until = began + seconds * 1_000 * Math.max(scale, 0.15);
  let done = 0;
  const runs = open.map(async (connection) => {
    for (; performance.now() < until; done++) await transfer(connection);
  });
  try {
    await Promise.all(runs);
    return (done * 1_000) / (performance.now() - began);
  } finally {
    for (const connection of open) connection.close();
  }
}
