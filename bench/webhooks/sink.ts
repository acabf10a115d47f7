/** The receiver of the deliveries, in a process of its own so that it does not compete with the sender. Run by `receiver.ts`. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerCommands } from '../../src/testing/worker-processes.ts';
import { type Sent, moment } from './moments.ts';

let delays: number[] = [];
let seen = new Set<string>();
let hanging: ServerResponse[] = [];
let awaited: { readonly count: number; readonly resolve: (delays: number[]) => void } | undefined;

const server = createServer((request, response) => {
  const path = request.url ?? '';
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const arrived = moment();
    if (mayAnswer(path)) response.writeHead(200, { 'Content-Length': 2 }).end('ok');
    else hanging.push(response);
    if (path.startsWith('/hang')) return;
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data?: Sent };
    delays.push(arrived - (data?.sent_at ?? arrived));
    check();
  });
});

/** `/hang` never answers, and `/once` does not answer the first request of a path. */
function mayAnswer(path: string): boolean {
  if (path.startsWith('/hang')) return false;
  const isFirst = path.startsWith('/once') && !seen.has(path);
  seen.add(path);
  return !isFirst;
}

function check(): void {
  if (awaited === undefined || delays.length < awaited.count) return;
  awaited.resolve(delays);
  awaited = undefined;
}

server.listen(0, '127.0.0.1', () =>
  answerCommands({
    port: () => (server.address() as AddressInfo).port,
    /** Forgets all requests so far. */
    reset() {
      delays = [];
      seen = new Set();
    },
    /** Ends the requests that hang. */
    cut() {
      for (const response of hanging) response.destroy();
      hanging = [];
    },
    /** Resolves with the delays in milliseconds when this many requests have arrived. */
    received: (count: number) =>
      new Promise<number[]>((resolve) => {
        awaited = { count, resolve };
        check();
      }),
    close: () => process.exit(0),
  }),
);
