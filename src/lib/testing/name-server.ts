import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import ipaddr from 'ipaddr.js';

/** What a name server does with a question: its addresses, `refused` by the server, or no answer at all. */
export type Zone = Readonly<Record<string, readonly string[] | 'refused' | 'silent'>>;

/** Starts a name server for one test, which knows these names only. Returns its address and port. */
export async function nameServer(zone: Zone): Promise<string> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12) + 5;
    const known = zone[nameIn(query.subarray(12))];
    if (known === 'silent') return;
    const type = query.readUInt16BE(end - 4);
    const wanted = (Array.isArray(known) ? (known as string[]) : []).filter(
      (address) => address.includes(':') === (type === 28),
    );
    const status = known === 'refused' ? 5 : known === undefined ? 3 : 0;
    const head = Buffer.from([
      ...query.subarray(0, 2),
      0x81,
      0x80 | status,
      0,
      1,
      0,
      wanted.length,
      0,
      0,
      0,
      0,
    ]);
    const answers = wanted.map((address) => {
      const bytes = ipaddr.parse(address).toByteArray();
      return Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]);
    });
    socket.send(Buffer.concat([head, query.subarray(12, end), ...answers]), from.port, from.address);
  });
  return `127.0.0.1:${socket.address().port}`;
}

/** The name in a question, which consists of labels that begin with their length. */
function nameIn(bytes: Buffer): string {
  const labels: string[] = [];
  for (let at = 0; bytes[at]! > 0; at += bytes[at]! + 1)
    labels.push(bytes.subarray(at + 1, at + 1 + bytes[at]!).toString());
  return labels.join('.').toLowerCase();
}
